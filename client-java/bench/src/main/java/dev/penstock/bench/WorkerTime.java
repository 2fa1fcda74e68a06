package dev.penstock.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * A JMH profiler that reports processor time of the benchmark's thread for each operation, under the name {@link #NAME}:
 * on a machine with other work, time on the clock is mostly waiting. Threads of the garbage collector and the
 * compiler are not in it. For benchmarks of one thread.
 */
public final class WorkerTime implements InternalProfiler {
    /** What the secondary result is called. */
    static final String NAME = "worker.time";

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long before;

    @Override
    public String getDescription() {
        return "processor time of the worker";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = workerNanos();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double nanos = workerNanos() - before;
        // Calls before and after the measured ones take the worker's time too.
        return List.of(new ScalarResult(
                NAME, nanos / result.getMetadata().getAllOps(), "ns/op", AggregationPolicy.AVG));
    }

    private long workerNanos() {
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && thread.getThreadName().contains("jmh-worker"))
                .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getThreadId())))
                .sum();
    }
}
