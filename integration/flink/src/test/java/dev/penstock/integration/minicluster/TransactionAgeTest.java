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

/** A transaction that has been open for almost its timeout, because the barrier does not come (kafka.md A10). */
@Timeout(600)
class TransactionAgeTest {
    private static final long ROWS = 20_000;
    private static final long RATE = 2_000;
    private static final long TIMEOUT_MILLIS = 10_000;

    private static Bed bed;

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
        String topic = Bed.topics().create("transaction-age", 1);
        BlockingMap.ARMED.set(true);
        FlinkJob job = InducedFailures.mappedBids(bed.job(1, 500), ROWS, RATE, new BlockingMap())
                .set("pipeline.operator-chaining.enabled", "false")
                .submit(Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once",
                        ", 'properties.transaction.timeout.ms' = '" + TIMEOUT_MILLIS + "'") + Tables.copyBids());
        job.awaitProgress("the failure of a transaction that is too old",
                () -> job.failures().contains("its commit would come too late"), Bed.JOB_TIMEOUT);
        String failures = job.failures();
        assertTrue(failures.contains("properties.transaction.timeout.ms = 10000, of which 1000 are left"), failures);

        job.awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }
}
