package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.nexmark.BidSource;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A task that ends for a reason of its own while its writer has failed and nobody has heard of that yet. An exception
 * from the close of an operator would then end the TaskManager, and every job on it (FLINK-38180).
 */
@Timeout(600)
class UnreportedFailureTest {
    private static final long ROWS = 4_000;

    private static Bed bed;

    /** Holds the task thread at one row, once, so that it hears of nothing; then fails or goes on. */
    private static final class Gate implements MapFunction<RowData, RowData> {
        private static final long serialVersionUID = 1L;
        private static final long ROW = ROWS / 2;
        private static final long SECONDS = 120;

        /** The tasks of a MiniCluster find these in this JVM. */
        private static CountDownLatch reached;
        private static CountDownLatch opened;

        static void shut() {
            reached = new CountDownLatch(1);
            opened = new CountDownLatch(1);
        }

        static void awaitReached() throws InterruptedException {
            assertTrue(reached.await(SECONDS, TimeUnit.SECONDS), "no task came to row " + ROW);
        }

        @Override
        public RowData map(RowData row) throws Exception {
            if (row.getLong(0) == ROW && reached.getCount() > 0) {
                reached.countDown();
                if (!opened.await(SECONDS, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("nobody has opened the gate");
                }
                throw new IllegalStateException("failure induced by the test");
            }
            return row;
        }
    }

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
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
    void doesNotEndTheTaskManagerWhenTheTaskFails() throws Exception {
        String topic = Bed.topics().create("unreported-failed", 1);
        FlinkJob job = submitAndLoseTheWriter(topic);
        Gate.opened.countDown();
        requireExact(job, topic);
    }

    @Test
    void doesNotEndTheTaskManagerWhenTheJobIsCancelled() throws Exception {
        FlinkJob job = submitAndLoseTheWriter(Bed.topics().create("unreported-cancelled", 1));
        job.cancel(Bed.JOB_TIMEOUT);
        assertEquals("CANCELED", job.state());

        // The slot serves the next job.
        String topic = Bed.topics().create("unreported-next", 1);
        requireExact(submit(topic), topic);
    }

    /** Returns when the task stands at the gate and its writer has failed. */
    private static FlinkJob submitAndLoseTheWriter(String topic) throws Exception {
        Gate.shut();
        FlinkJob job = submit(topic);
        Gate.awaitReached();
        bed.daemon().process().kill();
        requireNoticed();
        return job;
    }

    /** Joining the process's session takes a fresh look at it first; its end fails the writers on it. */
    private static void requireNoticed() throws DaemonException {
        SessionSettings settings = new SessionSettings(bed.daemon().directory(), 64 << 20, "test", "2.2.1", "2.18.2",
                Duration.ofSeconds(30));
        DaemonSession.acquire(settings).release();
    }

    private static FlinkJob submit(String topic) {
        return InducedFailures.mappedBids(bed.job(1, 300), ROWS, 0, new Gate()).submit(
                Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once", "")
                        + Tables.copyBids());
    }

    private static void requireExact(FlinkJob job, String topic) {
        job.awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
    }
}
