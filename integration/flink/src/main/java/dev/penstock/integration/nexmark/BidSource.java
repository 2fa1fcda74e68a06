package dev.penstock.integration.nexmark;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.table.data.RowData;

/** The FLIP-27 source of {@link BidGenerator}'s rows: bounded, checkpointable, one range of numbers per subtask. */
public final class BidSource {
    /** The columns that {@link BidGenerator} fills, as SQL writes them. */
    public static final String COLUMNS = "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, "
            + "`dateTime` TIMESTAMP(3), extra STRING";

    private BidSource() {}

    /**
     * A source of bids 0 .. rows-1.
     *
     * @param rate rows per second over all subtasks, 0 = as fast as they are taken
     */
    @SuppressWarnings("rawtypes") // as the constructor of DataGeneratorSource
    public static DataGeneratorSource<RowData> of(long rows, long rate, TypeInformation<RowData> type) {
        RateLimiterStrategy limit = rate == 0
                ? RateLimiterStrategy.noOp() : new PacedRate(rate);
        return new DataGeneratorSource<>(new BidGenerator(), rows, limit, type);
    }
}
