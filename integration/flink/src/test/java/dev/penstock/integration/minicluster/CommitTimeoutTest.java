package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.nexmark.BidSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A broker that stops answering between the seal of an epoch and its commit, in a real job. The committer then keeps
 * the task thread for all its attempts, so that the task hears nothing of its writer meanwhile.
 */
@Timeout(900)
class CommitTimeoutTest {
    private static final long ROWS = 8_000;
    private static final long RATE = 2_000;
    private static final String SHORT_COMMIT =
            ", 'properties.max.block.ms' = '3000', 'properties.request.timeout.ms' = '2000'";
    /** All of Flink's ten attempts at a commit, and a slow machine. */
    private static final Duration FAILURE_BOUND = Duration.ofSeconds(180);

    private static Bed bed;
    private static BrokerProcess broker;
    private static Topics topics;

    /** Pauses the broker once, when the task takes its part of a checkpoint: the epoch is sealed then. */
    private static final class PausingMap implements MapFunction<RowData, RowData>, CheckpointedFunction {
        private static final long serialVersionUID = 1L;
        private static final long CHECKPOINT = 2;

        /** The tasks of a MiniCluster find it in this JVM. */
        private static final AtomicBoolean ARMED = new AtomicBoolean();

        @Override
        public RowData map(RowData row) {
            return row;
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {
            if (context.getCheckpointId() >= CHECKPOINT && ARMED.get()) {
                broker.process().pause();
                ARMED.set(false);
            }
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {}
    }

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
        broker = BrokerProcess.start();
        topics = new Topics(broker.bootstrapServers());
    }

    @AfterAll
    static void close() {
        bed.close();
        topics.close();
        broker.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @Test
    void isRetriedAndEndsExact() {
        String topic = topics.create("commit-retried", 1);
        FlinkJob job = submit(topic, SHORT_COMMIT);
        try {
            awaitPause(job);
            job.awaitProgress("a commit that is to be retried",
                    () -> job.vertexMetric("Committer", "retriedCommittables") > 0, FAILURE_BOUND);
        } finally {
            PausingMap.ARMED.set(false);
            broker.process().resume();
        }
        requireExact(job, topic);
    }

    /** The open epoch has rows, which fail by delivery.timeout.ms while the commits fail, and nobody hears of it. */
    @Test
    void doesNotEndTheTaskManagerWhenTheWriterHasFailedBeside() throws Exception {
        String topic = topics.create("commit-failed", 1);
        FlinkJob job = submit(topic, SHORT_COMMIT + ", 'properties.delivery.timeout.ms' = '4000'"
                + ", 'penstock.batch.rows' = '1'");
        try {
            awaitPause(job);
            long before = job.restarts();
            job.awaitProgress("a restart", () -> job.restarts() > before, FAILURE_BOUND);
        } finally {
            PausingMap.ARMED.set(false);
            broker.process().resume();
        }
        requireExact(job, topic);
    }

    private static FlinkJob submit(String topic, String limits) {
        PausingMap.ARMED.set(true);
        return InducedFailures.mappedBids(bed.job(1, 500), ROWS, RATE, new PausingMap())
                .explainedBy(broker::diagnosis)
                .submit(Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once",
                        ", 'properties.bootstrap.servers' = '" + broker.bootstrapServers() + "'" + limits)
                        + Tables.copyBids());
    }

    private static void awaitPause(FlinkJob job) {
        job.awaitProgress("a sealed epoch", () -> !PausingMap.ARMED.get(), Bed.JOB_TIMEOUT);
    }

    private static void requireExact(FlinkJob job, String topic) {
        job.awaitFinished(Bed.JOB_TIMEOUT);
        TopicJudge judge = new TopicJudge(broker.bootstrapServers(), RowId.jsonField("auction", 0), false);
        judge.judge(judge.read(topic), ROWS).requireExact(ROWS);
        assertEquals(List.of(), topics.openTransactions(topic));
    }
}
