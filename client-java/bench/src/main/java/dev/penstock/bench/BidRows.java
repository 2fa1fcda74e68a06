package dev.penstock.bench;

import java.util.SplittableRandom;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;

/** Nexmark bids of about 290 bytes of JSON: shapes and lengths of the reference generator, values random. */
final class BidRows {
    static final RowType TYPE = type(new TimestampType(3));

    /** The same with the time in milliseconds, for a format without timestamps. */
    static final RowType NUMERIC_TYPE = type(new BigIntType());

    private static final int DATE_TIME = 5;

    /** The position of the longest text. */
    static final int EXTRA = 6;

    private static final String[] CHANNELS = {"Google", "Facebook", "Baidu", "Apple", "channel-4711"};

    private BidRows() {}

    private static RowType type(LogicalType dateTime) {
        LogicalType text = new VarCharType(VarCharType.MAX_LENGTH);
        // Flink's sinks pass a row that is never null, which shows in avro.
        return RowType.of(
                false,
                new LogicalType[] {new BigIntType(), new BigIntType(), new BigIntType(), text, text, dateTime, text},
                new String[] {"auction", "bidder", "price", "channel", "url", "dateTime", "extra"});
    }

    /** A bid of {@link #TYPE} as one of {@link #NUMERIC_TYPE}. */
    static RowData numeric(RowData bid) {
        return GenericRowData.of(
                bid.getLong(0), bid.getLong(1), bid.getLong(2), bid.getString(3), bid.getString(4),
                bid.getTimestamp(DATE_TIME, 3).getMillisecond(), bid.getString(EXTRA));
    }

    /** Bids as a job's operators make them from boxed values. Each call makes new rows with strings not yet encoded. */
    static RowData[] generic(int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RowData[] rows = new RowData[count];
        for (int i = 0; i < count; i++) {
            rows[i] = GenericRowData.of(
                    1000L + random.nextInt(100_000),
                    1000L + random.nextInt(100_000),
                    (long) Math.pow(10, random.nextDouble() * 6) * 100,
                    StringData.fromString(CHANNELS[random.nextInt(CHANNELS.length)]),
                    StringData.fromString("https://www.nexmark.com/" + letters(random, 5) + "/"
                            + letters(random, 5) + "/"
                            + letters(random, 5) + "/item.htm?query=1&channel_id=" + random.nextInt(1 << 30)),
                    TimestampData.fromEpochMillis(1_700_000_000_000L + i),
                    StringData.fromString(letters(random, 60 + random.nextInt(40))));
        }
        return rows;
    }

    /** The same bids as binary rows in heap segments, as they come from Flink's network. */
    static BinaryRowData[] binary(int count, long seed) {
        RowDataSerializer serializer = new RowDataSerializer(TYPE);
        RowData[] rows = generic(count, seed);
        BinaryRowData[] binary = new BinaryRowData[count];
        for (int i = 0; i < count; i++) {
            binary[i] = serializer.toBinaryRow(rows[i]).copy();
        }
        return binary;
    }

    private static String letters(SplittableRandom random, int count) {
        StringBuilder out = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            out.append((char) ('a' + random.nextInt(26)));
        }
        return out.toString();
    }
}
