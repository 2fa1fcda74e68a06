package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.nexmark.BidSource;
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
 * Transactions that come close to their timeout, because the barrier does not come, or because the checkpoint that
 * commits them does not complete (kafka.md A10).
 */
@Timeout(600)
class TransactionAgeTest {
    private static final long ROWS = 20_000;
    private static final long RATE = 2_000;
    private static final long TIMEOUT_MILLIS = 10_000;

    private static Bed bed;

    /** A checkpoint cannot complete for longer than a transaction may last, because this task does not take its part. */
    private static final class BlockingSnapshot implements MapFunction<RowData, RowData>, CheckpointedFunction {
        private static final long serialVersionUID = 1L;

        /** The tasks of a MiniCluster find it in this JVM. */
        private static final AtomicBoolean ARMED = new AtomicBoolean();

        private final long afterRow;
        private boolean due;

        /** Blocks in the first snapshot after this bid. */
        BlockingSnapshot(long afterRow) {
            this.afterRow = afterRow;
        }

        @Override
        public RowData map(RowData row) {
            due |= row.getLong(0) >= afterRow;
            return row;
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) throws Exception {
            if (due && ARMED.compareAndSet(true, false)) {
                Thread.sleep(3 * TIMEOUT_MILLIS);
            }
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {}
    }

    /** Some rows after a checkpoint it holds everything, the next barrier too, for longer than a transaction may last. */
    private static final class BlockingMap implements MapFunction<RowData, RowData>, CheckpointedFunction {
        private static final long serialVersionUID = 1L;
        private static final long CHECKPOINT = 2;
        private static final int ROWS_AFTER_CHECKPOINT = 300;

        /** The tasks of a MiniCluster find it in this JVM. */
        private static final AtomicBoolean ARMED = new AtomicBoolean();

        private boolean due;
        private int rows;

        @Override
        public RowData map(RowData row) throws Exception {
            if (due && ++rows > ROWS_AFTER_CHECKPOINT && ARMED.compareAndSet(true, false)) {
                Thread.sleep(3 * TIMEOUT_MILLIS);
            }
            return row;
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {
            due |= context.getCheckpointId() >= CHECKPOINT;
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {}
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
    void failsBeforeTheBrokerAbortsAndEndsExact() {
        BlockingMap.ARMED.set(true);
        endsExactAfterTheFailure("transaction-age", new BlockingMap(),
                "its commit would come too late", "properties.transaction.timeout.ms = 10000, of which 1000 are left");
    }

    @Test
    void aSealedTransactionWhoseCheckpointIsLateIsReplayed() {
        BlockingSnapshot.ARMED.set(true);
        endsExactAfterTheFailure("sealed-age", new BlockingSnapshot(ROWS / 4),
                "no checkpoint is complete that commits it", "properties.transaction.timeout.ms = 10000, of which ");
    }

    /** No timer of the writer's operator runs any more when the input has ended. */
    @Test
    void aLateFinalCheckpointIsReplayed() {
        BlockingSnapshot.ARMED.set(true);
        endsExactAfterTheFailure("final-age", new BlockingSnapshot(ROWS - 1),
                "no checkpoint is complete that commits it", "properties.transaction.timeout.ms = 10000, of which ");
    }

    private static void endsExactAfterTheFailure(String name, MapFunction<RowData, RowData> blocking, String... words) {
        String topic = Bed.topics().create(name, 1);
        FlinkJob job = InducedFailures.bidsMappedElsewhere(bed.job(1, 500), ROWS, RATE, blocking)
                .submit(Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once",
                        ", 'properties.transaction.timeout.ms' = '" + TIMEOUT_MILLIS + "'") + Tables.copyBids());
        job.awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        String failures = job.failures();
        for (String word : words) {
            assertTrue(failures.contains(word), failures);
        }
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }
}
