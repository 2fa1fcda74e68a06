package dev.penstock.integration.judge;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Everything that a topic holds for read_committed readers, as a multiset of record hashes with the place of
 * the first of each, and the set of row ids. Memory is about 200 bytes a record.
 */
public final class TopicContents {
    private final Map<RecordHash, Integer> counts = new HashMap<>();
    private final Map<RecordHash, String> places = new HashMap<>();
    private final BitSet ids = new BitSet();
    private long records;
    private long duplicatedIds;
    private long minTimestamp = Long.MAX_VALUE;
    private long maxTimestamp = Long.MIN_VALUE;

    private TopicContents() {}

    /** How a row id (0, 1, 2, ...) is found in a value; it must fit an int. */
    public interface RowId extends ToLongFunction<byte[]> {

        /** The number after {@code "name":} in a JSON value, less an offset. */
        static RowId jsonField(String name, long offset) {
            Pattern field = Pattern.compile("\"" + Pattern.quote(name) + "\":(-?\\d+)");
            return value -> {
                Matcher matcher = field.matcher(new String(value, StandardCharsets.UTF_8));
                if (!matcher.find()) {
                    throw new IllegalArgumentException("no row id " + name + " in "
                            + new String(value, StandardCharsets.UTF_8));
                }
                return Long.parseLong(matcher.group(1)) - offset;
            };
        }
    }

    /** Reads a topic as {@link TopicReader#read} does. */
    public static TopicContents read(String bootstrapServers, String topic, RowId rowId, boolean withTimestamp,
            Duration timeout) {
        TopicContents contents = new TopicContents();
        TopicReader.read(bootstrapServers, topic, timeout, record -> contents.add(record, rowId, withTimestamp));
        return contents;
    }

    private void add(ConsumerRecord<byte[], byte[]> record, RowId rowId, boolean withTimestamp) {
        records++;
        minTimestamp = Math.min(minTimestamp, record.timestamp());
        maxTimestamp = Math.max(maxTimestamp, record.timestamp());
        RecordHash hash = RecordHash.of(record, withTimestamp);
        counts.merge(hash, 1, Integer::sum);
        places.putIfAbsent(hash, record.partition() + "@" + record.offset());
        int id = Math.toIntExact(rowId.applyAsLong(record.value()));
        if (ids.get(id)) {
            duplicatedIds++;
        }
        ids.set(id);
    }

    public long records() {
        return records;
    }

    /** Records whose row id was there already. */
    public long duplicatedIds() {
        return duplicatedIds;
    }

    /** How many of the ids 0 .. rows-1 are missing. */
    public long missingIds(long rows) {
        return rows - ids.get(0, Math.toIntExact(rows)).cardinality();
    }

    /** The first missing id below rows, or -1. */
    long firstMissing(long rows) {
        int id = ids.nextClearBit(0);
        return id < rows ? id : -1;
    }

    Map<RecordHash, Integer> counts() {
        return counts;
    }

    /** Partition and offset of the first record with this hash. */
    String place(RecordHash hash) {
        return places.get(hash);
    }

    /** Whether every record's timestamp lies between the two times, milliseconds since the epoch. */
    boolean isWithin(long fromMillis, long toMillis) {
        return records == 0 || minTimestamp >= fromMillis && maxTimestamp <= toMillis;
    }

    String timestamps() {
        return minTimestamp + " to " + maxTimestamp;
    }
}
