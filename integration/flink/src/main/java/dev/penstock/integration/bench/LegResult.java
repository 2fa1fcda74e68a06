package dev.penstock.integration.bench;

import java.util.Locale;

/** What one leg measured. Times of CPU are microseconds per row. */
record LegResult(double rowsPerSecond, double jobCpu, double daemonCpu, double brokerCpu, CheckpointSummary checkpoints) {
    private static final String MARK = "LEG ";

    /** The line by which the leg's JVM reports. */
    String line() {
        return MARK + String.format(Locale.ROOT, "%f %f %f %f ", rowsPerSecond, jobCpu, daemonCpu, brokerCpu) + checkpoints.words();
    }

    /** Finds {@link #line} in the output of a leg. */
    static LegResult parse(String output) {
        for (String line : output.split("\n")) {
            if (line.startsWith(MARK)) {
                String[] f = line.substring(MARK.length()).split(" ");
                return new LegResult(Double.parseDouble(f[0]), Double.parseDouble(f[1]), Double.parseDouble(f[2]),
                        Double.parseDouble(f[3]), CheckpointSummary.parse(f, 4));
            }
        }
        throw new IllegalStateException("a leg has printed no result but: " + output);
    }

    double checkpointP50() {
        return checkpoints.p50();
    }

    double checkpointP99() {
        return checkpoints.p99();
    }

    /** CPU of everything that replaces the stock writer: the job's JVM and the daemon. */
    double jobAndDaemonCpu() {
        return jobCpu + daemonCpu;
    }
}
