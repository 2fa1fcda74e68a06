package dev.penstock.integration.minicluster;

import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.nexmark.BidSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/**
 * Bids whose stream breaks a given number of times, each time some rows after a complete checkpoint, so that rows of an
 * open transaction are lost and replayed. The tasks of a MiniCluster find the counter in this JVM, by its name.
 */
final class InducedFailures {
    private static final int ROWS_AFTER_CHECKPOINT = 300;
    private static final Map<String, InducedFailures> BY_NAME = new ConcurrentHashMap<>();

    private final AtomicInteger left;
    private final AtomicBoolean armed = new AtomicBoolean();

    private InducedFailures(int count) {
        left = new AtomicInteger(count);
    }

    static InducedFailures named(String name, int count) {
        InducedFailures failures = new InducedFailures(count);
        BY_NAME.put(name, failures);
        return failures;
    }

    /** Failures that have not happened yet. */
    int left() {
        return left.get();
    }

    /** Registers the view bids whose stream breaks as the failures of this name say. */
    static SqlJob breakingBids(SqlJob job, String name, long rows, long rate) {
        return mappedBids(job, rows, rate, new Breaker(name));
    }

    /** Registers the view bids whose rows go through a function of the test in the sink's own task, which it may block. */
    static SqlJob mappedBids(SqlJob job, long rows, long rate, MapFunction<RowData, RowData> function) {
        return mappedBids(job, rows, rate, function, true);
    }

    /** The same in a task of its own. */
    static SqlJob bidsMappedElsewhere(SqlJob job, long rows, long rate, MapFunction<RowData, RowData> function) {
        return mappedBids(job, rows, rate, function, false);
    }

    private static SqlJob mappedBids(
            SqlJob job, long rows, long rate, MapFunction<RowData, RowData> function, boolean chained) {
        InternalTypeInfo<RowData> type = InternalTypeInfo.of((RowType) DataTypes.ROW(
                DataTypes.FIELD("auction", DataTypes.BIGINT()), DataTypes.FIELD("bidder", DataTypes.BIGINT()),
                DataTypes.FIELD("price", DataTypes.BIGINT()), DataTypes.FIELD("channel", DataTypes.STRING()),
                DataTypes.FIELD("url", DataTypes.STRING()), DataTypes.FIELD("dateTime", DataTypes.TIMESTAMP(3)),
                DataTypes.FIELD("extra", DataTypes.STRING())).getLogicalType());
        return job.setup((env, tables) -> {
            SingleOutputStreamOperator<RowData> mapped =
                    env.fromSource(BidSource.of(rows, rate, type), WatermarkStrategy.noWatermarks(), "bids")
                            .map(function).returns(type);
            tables.createTemporaryView("bids", tables.fromDataStream(chained ? mapped : mapped.disableChaining()));
        });
    }

    private static final class Breaker extends RichMapFunction<RowData, RowData> implements CheckpointListener {
        private static final long serialVersionUID = 1L;

        private final String name;
        private int sinceCheckpoint;

        Breaker(String name) {
            this.name = name;
        }

        @Override
        public RowData map(RowData row) {
            InducedFailures failures = BY_NAME.get(name);
            if (++sinceCheckpoint > ROWS_AFTER_CHECKPOINT && failures.left.get() > 0
                    && failures.armed.compareAndSet(true, false) && failures.left.getAndDecrement() > 0) {
                throw new IllegalStateException("failure induced by the test");
            }
            return row;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            sinceCheckpoint = 0;
            BY_NAME.get(name).armed.set(true);
        }
    }
}
