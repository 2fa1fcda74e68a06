package dev.penstock.integration.parity;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * What goes to Kafka for one row.
 *
 * @param topic null where only values are compared
 * @param timestamp milliseconds since 1970, or -1 for the time of producing
 * @param key null when the record has none
 * @param value null for a tombstone
 * @param headers key, value, key, value ...
 */
record WholeRecord(String topic, long timestamp, byte[] key, byte[] value, List<byte[]> headers) {

    static WholeRecord ofValue(byte[] value) {
        return new WholeRecord(null, -1, null, value, List.of());
    }

    static WholeRecord of(ProducerRecord<byte[], byte[]> record) {
        List<byte[]> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(header.key().getBytes(StandardCharsets.UTF_8));
            headers.add(header.value());
        }
        long timestamp = record.timestamp() == null ? -1 : record.timestamp();
        return new WholeRecord(record.topic(), timestamp, record.key(), record.value(), headers);
    }

    /** Whether both are the same record, byte for byte; absent and empty differ. */
    boolean same(WholeRecord other) {
        if (other == null || headers.size() != other.headers.size()) {
            return false;
        }
        for (int i = 0; i < headers.size(); i++) {
            if (!Arrays.equals(headers.get(i), other.headers.get(i))) {
                return false;
            }
        }
        return (topic == null ? other.topic == null : topic.equals(other.topic))
                && timestamp == other.timestamp
                && Arrays.equals(key, other.key)
                && Arrays.equals(value, other.value);
    }

    /** For a person. */
    String text() {
        if (topic == null) {
            return text(value);
        }
        List<String> shown = headers.stream().map(WholeRecord::text).toList();
        return topic + " @" + timestamp + " " + shown + "\n    key      " + text(key) + "\n    value    " + text(value);
    }

    private static String text(byte[] bytes) {
        if (bytes == null) {
            return "null";
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.indexOf('\ufffd') < 0 ? text : text + "  (hex " + HexFormat.of().formatHex(bytes) + ")";
    }
}
