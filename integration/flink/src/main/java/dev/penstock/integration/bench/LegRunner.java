package dev.penstock.integration.bench;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.JavaCommand;
import dev.penstock.integration.harness.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The broker and the daemon that all legs of a benchmark share. Each leg is a JVM of its own. */
final class LegRunner implements AutoCloseable {
    private static final Duration LEG_TIMEOUT = Duration.ofMinutes(10);

    private final BrokerProcess broker;
    private final Topics topics;
    private final DaemonProcess daemon;

    private LegRunner(BrokerProcess broker, DaemonProcess daemon) {
        this.broker = broker;
        this.topics = new Topics(broker.bootstrapServers());
        this.daemon = daemon;
    }

    static LegRunner start() {
        BrokerProcess broker = BrokerProcess.start();
        try {
            return new LegRunner(broker, DaemonProcess.start());
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    @Override
    public void close() {
        daemon.close();
        topics.close();
        broker.close();
    }

    /**
     * Runs one leg and prints its line.
     *
     * @param rate rows per second, 0 = as fast as they are taken
     */
    LegResult run(LegKind kind, int parallelism, long rows, long rate, int checkpointMillis) {
        LegSettings settings = new LegSettings(sinkOptions(kind), parallelism, rows, rate, checkpointMillis,
                topics.create("bench-" + kind.key(), parallelism, Map.of()), broker.bootstrapServers(),
                daemon.process().pid(), broker.process().pid());
        List<String> command = new ArrayList<>(List.of(JavaCommand.java(), "-Xmx2g"));
        command.addAll(JavaCommand.flinkModuleFlags());
        String logging = System.getProperty("log4j2.configurationFile");
        if (logging != null) {
            command.add("-Dlog4j2.configurationFile=" + logging);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchLeg.class.getName()));
        command.addAll(settings.arguments());
        long nativeBefore = daemon.status().counter("rows");
        LegResult result = LegResult.parse(ChildProcess.run(command, LEG_TIMEOUT));
        requireNative(kind, rows, daemon.status().counter("rows") - nativeBefore);
        System.out.printf(Locale.ROOT, "%-14s p=%d  %8.0f rows/s  CPU us/row: job %.2f daemon %.2f broker %.2f  %s%n", kind.key(),
                parallelism, result.rowsPerSecond(), result.jobCpu(), result.daemonCpu(), result.brokerCpu(), result.checkpoints());
        return result;
    }

    /** A leg that fell back would be a comparison of stock with stock. */
    private void requireNative(LegKind kind, long rows, long nativeRows) {
        if (kind != LegKind.STOCK && nativeRows < rows) {
            throw new IllegalStateException("only " + nativeRows + " of " + rows + " rows of a " + kind.key()
                    + " leg went through the daemon" + daemon.process().logTail());
        }
    }

    private String sinkOptions(LegKind kind) {
        return switch (kind) {
            case STOCK -> "'connector' = 'kafka'";
            case PENSTOCK -> penstock("true");
            case PENSTOCK_COLD -> penstock("false");
        };
    }

    private String penstock(String warmPool) {
        return "'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail', 'penstock.socket-dir' = '"
                + daemon.directory() + "', 'penstock.warm-pool' = '" + warmPool + "'";
    }
}
