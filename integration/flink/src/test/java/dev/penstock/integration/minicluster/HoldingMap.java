package dev.penstock.integration.minicluster;

import dev.penstock.integration.harness.FlinkJob;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.table.data.RowData;

/**
 * Keeps its task busy from the first row behind a checkpoint on, until the job is cancelled: that checkpoint becomes
 * complete, and its task never hears of it, so that nothing is committed.
 */
final class HoldingMap implements MapFunction<RowData, RowData>, CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final long HOURS = 3_600_000;
    private static final long FIRST = 2;

    /** The tasks of a MiniCluster find it in this JVM: the checkpoint behind which a task stands, or 0. */
    private static final AtomicLong HELD = new AtomicLong();

    private final boolean holds;
    private transient long last;

    /** Lets all rows pass unless it holds. */
    HoldingMap(boolean holds) {
        this.holds = holds;
        HELD.set(0);
    }

    /** Waits until the task stands and the checkpoint before that is complete, whose number it returns. */
    static long awaitHeld(FlinkJob job) {
        job.awaitProgress("a checkpoint that the task does not hear of",
                () -> HELD.get() > 0 && job.latestCheckpointId() >= HELD.get(), Bed.JOB_TIMEOUT);
        return HELD.get();
    }

    @Override
    public RowData map(RowData row) throws InterruptedException {
        if (holds && last >= FIRST) {
            HELD.set(last);
            Thread.sleep(HOURS);
        }
        return row;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) {
        last = context.getCheckpointId();
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}
}
