package dev.penstock.flink.sink;

import dev.penstock.proto.v1.AccountReport;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.MetricGroup;

/**
 * The gauges of the memory outside of the JVM, on each native writer. One account serves the whole TaskManager process,
 * so all writers of it show the same values (in bytes; denied reservations are a count). Reading one asks nobody: the
 * daemon reports with a writer's progress.
 */
final class NativeMemoryMetrics {

    private NativeMemoryMetrics() {}

    static void register(MetricGroup group, DaemonWriter daemon) {
        // taskmanager.memory.task.off-heap.size.
        account(group, daemon, "nativeOffHeapCapacityBytes", AccountReport::getCapacityBytes);
        account(group, daemon, "nativeOffHeapReservedBytes", AccountReport::getReservedBytes);
        account(group, daemon, "nativeOffHeapAvailableBytes", AccountReport::getAvailableBytes);
        account(group, daemon, "nativeOffHeapPeakBytes", AccountReport::getPeakBytes);
        account(group, daemon, "nativeOffHeapDeniedReservations", AccountReport::getDenied);
        // Extents that are being filled or handed over: the only memory in which Arrow columns lie.
        WriterMetrics.gauge(group, "nativeArrowAllocatorBytes", daemon::arrowBytes);
        // What open epochs hold in the daemon: encode buffers and queues of producers.
        account(group, daemon, "nativeStateBytes", AccountReport::getStateBytes);
        // A part of the Arrow bytes: what waits for the daemon, and what it reads.
        WriterMetrics.gauge(group, "nativeParkedBytes", daemon::parkedBytes);
        WriterMetrics.gauge(group, "nativePinnedBytes", daemon::pinnedBytes);
        account(group, daemon, "nativeSpilledBytes", AccountReport::getSpilledBytes);
        account(group, daemon, "nativeOrphanBytes", AccountReport::getOrphanBytes);
    }

    private static void account(
            MetricGroup group, DaemonWriter daemon, String name, ToLongFunction<AccountReport> value) {
        WriterMetrics.gauge(group, name, () -> value.applyAsLong(daemon.account()));
    }
}
