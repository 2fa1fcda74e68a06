package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.judge.TopicReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/** What topics hold for read_committed readers, by partition and in order, with everything that a table can write. */
final class TopicRecords {
    static final String NULL = "a null value";

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
    /** Tables that write timestamps write older ones; younger ones come from the producer and differ in every run. */
    private static final long FIRST_OF_PRODUCERS = 1_700_000_000_000L;

    private final Map<String, List<String>> byPartition = new TreeMap<>();
    private final Map<String, String> last = new HashMap<>();

    private TopicRecords() {}

    /** Reads topics; they are named by their place in the list, so that runs with other topics can be compared. */
    static TopicRecords read(List<String> topics) {
        TopicRecords records = new TopicRecords();
        for (int i = 0; i < topics.size(); i++) {
            String name = "topic " + i + " partition ";
            TopicReader.read(
                    Bed.broker().bootstrapServers(), topics.get(i), READ_TIMEOUT, record -> records.add(name, record));
        }
        return records;
    }

    private void add(String topic, ConsumerRecord<byte[], byte[]> record) {
        String key = text(record.key(), "no key");
        String value = text(record.value(), NULL);
        StringBuilder all = new StringBuilder(key).append(' ').append(value);
        for (Header header : record.headers()) {
            all.append(" [").append(header.key()).append(text(header.value(), NULL)).append(']');
        }
        if (record.timestamp() < FIRST_OF_PRODUCERS) {
            all.append(" @").append(record.timestamp());
        }
        String place = topic + record.partition();
        byPartition.computeIfAbsent(place, p -> new ArrayList<>()).add(all.toString());
        last.put(place + " key " + key, value);
    }

    private static String text(byte[] part, String absent) {
        return part == null ? absent : "=" + new String(part, StandardCharsets.ISO_8859_1);
    }

    /** All records of each partition in their order. */
    Map<String, List<String>> byPartition() {
        return byPartition;
    }

    /** Fails at the first record that differs from stock's of the same place. */
    void requireSame(TopicRecords stock) {
        assertEquals(stock.byPartition.keySet(), byPartition.keySet());
        stock.byPartition.forEach((place, expected) -> {
            List<String> got = byPartition.get(place);
            for (int i = 0; i < Math.min(expected.size(), got.size()); i++) {
                assertEquals(expected.get(i), got.get(i), "record " + i + " of " + place);
            }
            assertEquals(expected.size(), got.size(), "records of " + place);
        });
    }

    /** How many there are. */
    long count() {
        return byPartition.values().stream().mapToLong(List::size).sum();
    }

    /** What log compaction leaves: the last value of each key that is not a tombstone. */
    Map<String, String> compacted() {
        Map<String, String> left = new TreeMap<>(last);
        left.values().removeIf(NULL::equals);
        return left;
    }

    /** Whether some record has this text. */
    boolean has(String text) {
        return byPartition.values().stream().flatMap(List::stream).anyMatch(record -> record.contains(text));
    }
}
