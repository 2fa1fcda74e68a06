package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of a TaskManager as its users see it: one account for all jobs, shown by each subtask of each sink. */
@Timeout(400)
class MemoryMetricsTest {
    private static final List<String> GAUGES = List.of("nativeOffHeapCapacityBytes", "nativeOffHeapReservedBytes",
            "nativeOffHeapAvailableBytes", "nativeOffHeapPeakBytes", "nativeOffHeapDeniedReservations",
            "nativeArrowAllocatorBytes", "nativeStateBytes", "nativeParkedBytes", "nativeSpilledBytes",
            "nativePinnedBytes", "nativeOrphanBytes");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Never reached: the jobs are cancelled. */
    private static final long ROWS = 10_000_000;
    private static final long RATE = 2_000;
    /** LocalCluster's. */
    private static final long BUDGET = 256L << 20;

    private static Bed bed;

    @BeforeAll
    static void open() {
        bed = Bed.open(3);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @Test
    void twoJobsShareOneAccountAndEverySubtaskShowsIt() throws Exception {
        DaemonProcess daemon = bed.daemon();
        FlinkJob wide = submit(daemon, 2);
        FlinkJob narrow = submit(daemon, 1);
        for (FlinkJob job : List.of(wide, narrow)) {
            job.awaitCheckpoints(1, Bed.JOB_TIMEOUT);
        }
        DaemonStatus status = daemon.status();
        assertEquals(1, status.sessions(), () -> status.json().toString());
        assertEquals(1, status.accounts(), () -> status.json().toString());
        assertEquals(Set.of(wide.id(), narrow.id()), status.jobs());
        requireOwners(status, 3);

        requireGauges(wide, 2);
        requireGauges(narrow, 1);
        for (FlinkJob job : List.of(wide, narrow)) {
            assertEquals(Set.of(BUDGET), Set.copyOf(gauge(job, "nativeOffHeapCapacityBytes").values()));
            awaitAbove(job, "nativeOffHeapReservedBytes", 32 << 20);
            awaitAbove(job, "nativeStateBytes", 1 << 20);
            awaitAbove(job, "nativeOffHeapPeakBytes", 32 << 20);
        }
        // A daemon that stands still leaves everything parked.
        daemon.process().pause();
        try {
            awaitAbove(wide, "nativeParkedBytes", 0);
            awaitAbove(narrow, "nativeArrowAllocatorBytes", 0);
        } finally {
            daemon.process().resume();
        }
        long reserved = max(narrow, "nativeOffHeapReservedBytes");
        wide.cancel(LIMIT);
        Deadline.in(LIMIT).await("what the other job held to be given back",
                () -> max(narrow, "nativeOffHeapReservedBytes") < reserved
                        && max(narrow, "nativeOffHeapAvailableBytes") > 0);
        assertTrue(max(narrow, "nativeOffHeapPeakBytes") >= reserved);
        assertEquals(0, max(narrow, "nativeOffHeapDeniedReservations"));
        // Of the whole JVM: Bed looks after each test of the classes that ran before.
        assertEquals(0, max(narrow, "leakedSegments"));
        narrow.cancel(LIMIT);
    }

    private static FlinkJob submit(DaemonProcess daemon, int parallelism) {
        String topic = Bed.topics().create("memory", parallelism);
        return bed.job(parallelism, 500).submit(Tables.bids(ROWS, RATE)
                + Tables.bidSink(Sink.PENSTOCK.options(daemon), topic, "exactly-once") + Tables.copyBids());
    }

    /** Everything that a writer holds belongs to a task attempt by name. */
    private static void requireOwners(DaemonStatus status, int writers) {
        List<JsonNode> owners = status.writerOwners();
        assertEquals(writers, owners.size(), () -> status.json().toString());
        for (JsonNode owner : owners) {
            assertTrue(status.jobs().contains(DaemonStatus.text(owner, "job_id")), owner::toString);
            assertTrue(DaemonStatus.text(owner, "vertex").matches("[0-9a-f]{32}"), owner::toString);
            assertTrue(DaemonStatus.text(owner, "task_name").contains("Writer"), owner::toString);
        }
    }

    private static void requireGauges(FlinkJob job, int subtasks) {
        for (String name : GAUGES) {
            Deadline.in(LIMIT).await("gauge " + name + " of each of " + subtasks + " subtasks",
                    () -> gauge(job, name).size() == subtasks);
        }
    }

    private static Map<String, Long> gauge(FlinkJob job, String name) throws IOException {
        return job.subtaskMetric("Writer", name);
    }

    private static long max(FlinkJob job, String name) throws IOException {
        return gauge(job, name).values().stream().mapToLong(Long::longValue).max().orElse(-1);
    }

    /** On each subtask. */
    private static void awaitAbove(FlinkJob job, String name, long bytes) {
        Deadline.in(LIMIT).await(name + " above " + bytes + " on all subtasks",
                () -> !gauge(job, name).isEmpty() && gauge(job, name).values().stream().allMatch(value -> value > bytes));
    }
}
