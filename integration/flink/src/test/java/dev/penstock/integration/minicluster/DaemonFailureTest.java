package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a job does when the daemon is not there, dies, or stops answering. The rows are exact in each case. */
@Timeout(300)
class DaemonFailureTest {
    private static final long ROWS = 60_000;
    private static final long RATE = 4_000;
    /** Bound of "no hang": longer than any deadline of the client towards a daemon that does not answer. */
    private static final Duration FAILURE_BOUND = Duration.ofSeconds(90);

    private static Bed bed;

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    private static FlinkJob submit(Path directory, String topic) {
        return bed.job(2, 500).submit(Tables.bids(ROWS, RATE)
                + Tables.bidSink(Sink.PENSTOCK.optionsWithFallback(directory), topic, "exactly-once")
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
            FlinkJob job = submit(nobody, topic);
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
        FlinkJob job = submit(daemon.directory(), topic);
        job.awaitCheckpoints(3, Bed.JOB_TIMEOUT);
        assertTrue(daemon.status().counter("rows") > 0, "nothing went through the daemon before it was killed");
        daemon.process().kill();
        daemon.restart();

        job.awaitProgress("a restart", () -> job.restarts() > 0, FAILURE_BOUND);
        requireExact(job, topic);
        bed.requireNothingLeft();
    }

    @Test
    void stoppedGivesABoundedErrorAndEndsExact() {
        String topic = Bed.topics().create("daemon-stopped", 2);
        DaemonProcess daemon = bed.daemon();
        FlinkJob job = submit(daemon.directory(), topic);
        job.awaitCheckpoints(3, Bed.JOB_TIMEOUT);
        daemon.process().pause();
        try {
            job.awaitProgress("a restart", () -> job.restarts() > 0, FAILURE_BOUND);
        } finally {
            daemon.process().resume();
        }
        requireExact(job, topic);
        bed.requireNothingLeft();
    }
}
