package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Path;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a job does when the daemon is not there, dies, or stops answering. The rows are exact in each case. */
@Timeout(600)
class DaemonFailureTest {
    private static final long ROWS = 32_000;
    private static final long RATE = 4_000;
    /** Not shorter: Flink goes on to number checkpoints while a task fails, and each number is an id to initialise. */
    private static final int CHECKPOINT_MILLIS = 1000;
    /** A dead daemon is noticed by its closed sockets, long before the first limit (max.block.ms, one minute). */
    private static final Duration NOTICE_BOUND = Duration.ofSeconds(60);
    /** The limits of a client whose daemon does not answer. */
    private static final String SHORT_LIMITS = ", 'penstock.connect-timeout' = '2 s'"
            + ", 'properties.max.block.ms' = '3000', 'properties.request.timeout.ms' = '2000'"
            + ", 'properties.delivery.timeout.ms' = '4000'";
    /** All of those with their grace, one after the other, and a slow machine. */
    private static final Duration LIMITS_BOUND = Duration.ofSeconds(90);

    private static Bed bed;

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    private static FlinkJob submit(Path directory, String topic, String limits) {
        return bed.job(2, CHECKPOINT_MILLIS).submit(Tables.bids(ROWS, RATE)
                + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.optionsWithFallback(directory), topic, "exactly-once",
                        limits)
                + Tables.copyBids());
    }

    private static void requireExact(FlinkJob job, String topic) {
        job.awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }

    @Test
    void absentFromTheStartRunsOnTheStockWriterAndSaysSo() {
        String topic = Bed.topics().create("daemon-absent", 2);
        Path nobody = Workspace.temporary("no-daemon");
        try {
            FlinkJob job = submit(nobody, topic, "");
            job.awaitProgress("gauge fallback of both subtasks at 1", () -> job.vertexMetric("Writer", "fallback") == 2,
                    Bed.JOB_TIMEOUT);
            requireExact(job, topic);
        } finally {
            Workspace.delete(nobody);
        }
    }

    @Test
    void killedInTheMiddleFailsOverAndEndsExact() {
        String topic = Bed.topics().create("daemon-killed", 2);
        DaemonProcess daemon = bed.daemon();
        FlinkJob job = submit(daemon.directory(), topic, "");
        job.awaitCheckpoints(2, Bed.JOB_TIMEOUT);
        assertTrue(daemon.status().counter("rows") > 0, "nothing went through the daemon before it was killed");
        daemon.process().kill();
        daemon.restart();

        job.awaitProgress("a restart", () -> job.restarts() > 0, NOTICE_BOUND);
        requireExact(job, topic);
    }

    /** `make daemon-restarts` does this ten times with a TaskManager of its own and looks after threads and descriptors. */
    @Test
    void killedAgainAndAgainUnderOneTaskManagerLeavesNothingMappedOfOldArenas() throws IOException {
        String topic = Bed.topics().create("daemon-killed-often", 2);
        DaemonProcess daemon = bed.daemon();
        // Those of daemons of other classes, which ran in this JVM before.
        Set<String> foreign = new HashSet<>(ProcessSample.arenas(ProcessHandle.current().pid()));
        foreign.remove(daemon.status().arenaId());
        FlinkJob job = submit(daemon.directory(), topic, ", 'penstock.fallback' = 'fail'");
        job.awaitCheckpoints(1, Bed.JOB_TIMEOUT);
        long self = ProcessHandle.current().pid();
        for (int i = 0; i < 3; i++) {
            String old = daemon.status().arenaId();
            daemon.process().kill();
            daemon.restart();
            job.awaitCheckpointAfter(System.currentTimeMillis(), Bed.JOB_TIMEOUT);
            String now = daemon.status().arenaId();
            assertNotEquals(old, now);
            Deadline.in(NOTICE_BOUND).await("only arena " + now + " to be mapped",
                    () -> {
                        Set<String> mapped = new HashSet<>(ProcessSample.arenas(self));
                        mapped.removeAll(foreign);
                        return mapped.equals(Set.of(now));
                    });
        }
        requireExact(job, topic);
    }

    @Test
    void stoppedGivesABoundedErrorAndEndsExact() {
        String topic = Bed.topics().create("daemon-stopped", 2);
        DaemonProcess daemon = bed.daemon();
        FlinkJob job = submit(daemon.directory(), topic, SHORT_LIMITS);
        job.awaitCheckpoints(2, Bed.JOB_TIMEOUT);
        daemon.process().pause();
        try {
            job.awaitProgress("a failure that names the daemon",
                    () -> job.failures().contains("is stopped or overloaded"), LIMITS_BOUND);
        } finally {
            daemon.process().resume();
        }
        requireExact(job, topic);
    }
}
