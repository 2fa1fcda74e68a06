package dev.penstock.integration.nexmark;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/**
 * Bid number k of the Nexmark auction site, the same in every run: {@code auction} is k itself and serves as row id. A
 * bid is about 290 bytes of JSON. Strings come from pools, so that a benchmark measures the sink and not this class.
 */
public final class BidGenerator implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;
    private static final int POOL = 1024;
    private static final int EXTRA_CHARS = 100;
    private static final long START_MILLIS = 1_700_000_000_000L;
    private static final String[] CHANNELS = {"Google", "Facebook", "Baidu", "Apple"};

    private transient StringData[] channels;
    private transient StringData[] urls;
    private transient StringData[] extras;

    @Override
    public void open(SourceReaderContext context) {
        SplittableRandom random = new SplittableRandom(42);
        channels = new StringData[POOL];
        urls = new StringData[POOL];
        extras = new StringData[POOL];
        for (int i = 0; i < POOL; i++) {
            channels[i] = pooled(i < CHANNELS.length ? CHANNELS[i] : "channel-" + random.nextInt(10_000));
            urls[i] = pooled("https://www.nexmark.com/" + letters(random, 5) + "/" + letters(random, 5) + "/"
                    + letters(random, 5) + "/item.htm?query=1&channel_id=" + random.nextInt(1 << 30));
            extras[i] = pooled(letters(random, EXTRA_CHARS));
        }
    }

    @Override
    public RowData map(Long k) {
        long mixed = mix(k);
        GenericRowData row = new GenericRowData(7);
        row.setField(0, k);
        row.setField(1, 1000 + (mixed >>> 44));
        row.setField(2, 100 + (mixed & 0xffffff));
        row.setField(3, channels[(int) (mixed >>> 24) & (POOL - 1)]);
        row.setField(4, urls[(int) (mixed >>> 34) & (POOL - 1)]);
        row.setField(5, TimestampData.fromEpochMillis(START_MILLIS + k));
        row.setField(6, extras[(int) mixed & (POOL - 1)]);
        return row;
    }

    /** Text whose bytes exist already, as the strings of a real job that come from a network or a format. */
    private static StringData pooled(String text) {
        return StringData.fromBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String letters(SplittableRandom random, int count) {
        StringBuilder text = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    /** Spreads a counter over 64 bits (the finaliser of SplitMix64), so that bids need no state. */
    private static long mix(long k) {
        long z = (k + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
