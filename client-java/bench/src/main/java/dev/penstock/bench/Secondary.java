package dev.penstock.bench;

import java.util.Map;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** Reads what JMH's profilers measured. */
final class Secondary {
    private Secondary() {}

    /** Bytes allocated for each operation, as the benchmark counts operations; needs the GC profiler. */
    static double garbage(RunResult result) {
        return find(result, "gc.alloc.rate.norm").getScore();
    }

    /** The least processor time of an operation over all iterations, in nanoseconds; needs {@link WorkerTime}. */
    static double leastNanos(RunResult result) {
        return find(result, WorkerTime.NAME).getStatistics().getMin();
    }

    @SuppressWarnings("rawtypes")
    private static Result find(RunResult result, String name) {
        for (Map.Entry<String, Result> entry : result.getSecondaryResults().entrySet()) {
            if (entry.getKey().endsWith(name)) {
                return entry.getValue();
            }
        }
        throw new IllegalStateException(
                "no profiler reported " + name + " for " + result.getParams().getBenchmark());
    }
}
