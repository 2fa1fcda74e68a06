package dev.penstock.integration.judge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.SharedBroker;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The judge finds each kind of fault, and nothing where there is none. */
@Timeout(180)
class TopicJudgeTest {
    private static final int ROWS = 3;
    private static final List<String> GOOD = List.of("{\"id\":0,\"v\":\"a\"}", "{\"id\":1,\"v\":\"b\"}", "{\"id\":2}");

    private interface Change {
        ProducerRecord<byte[], byte[]> apply(ProducerRecord<byte[], byte[]> record);
    }

    private static TopicJudge judge(boolean withTimestamps) {
        return new TopicJudge(SharedBroker.broker().bootstrapServers(), RowId.jsonField("id", 0), withTimestamps);
    }

    private static String write(List<String> values, Change change) {
        String topic = SharedBroker.topics().create("judge", 1);
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (String value : values) {
                producer.send(change.apply(
                        new ProducerRecord<>(topic, null, 1000L, null, value.getBytes(StandardCharsets.UTF_8))));
            }
        }
        return topic;
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, SharedBroker.broker().bootstrapServers());
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Verdict verdict(List<String> ours, Change change, boolean withTimestamps) {
        TopicJudge judge = judge(withTimestamps);
        return judge.judge(judge.read(write(GOOD, r -> r)), judge.read(write(ours, change)), ROWS, 0, 5000);
    }

    @Test
    void equalTopicsInAnyOrderAreExact() {
        Verdict verdict = verdict(List.of(GOOD.get(2), GOOD.get(0), GOOD.get(1)), r -> r, true);
        assertEquals(new Verdict(ROWS, 0, 0, 0, List.of()), verdict);
        verdict.requireExact(ROWS);
        assertThrows(AssertionError.class, () -> verdict.requireExact(ROWS + 1));
    }

    @Test
    void aMissingRowIsLost() {
        Verdict verdict = verdict(GOOD.subList(0, 2), r -> r, false);
        assertEquals(1, verdict.lost());
        assertEquals(1, verdict.differing());
        assertFalse(verdict.isExact());
    }

    @Test
    void aSecondCopyIsDuplicated() {
        Verdict verdict = verdict(List.of(GOOD.get(0), GOOD.get(1), GOOD.get(1), GOOD.get(2)), r -> r, false);
        assertEquals(1, verdict.duplicated());
        assertEquals(0, verdict.lost());
        assertEquals(1, verdict.differing());
    }

    @Test
    void oneChangedByteDiffersOnBothSides() {
        Verdict verdict = verdict(List.of(GOOD.get(0), "{\"id\":1,\"v\":\"B\"}", GOOD.get(2)), r -> r, false);
        assertEquals(2, verdict.differing());
        assertEquals(0, verdict.lost());
    }

    @Test
    void keysAndHeadersCount() {
        Verdict keys = verdict(GOOD, r -> new ProducerRecord<>(r.topic(), null, 1000L, new byte[0], r.value()), false);
        assertEquals(2 * ROWS, keys.differing(), "an empty key is not an absent one");
        Verdict headers = verdict(GOOD, r -> {
            r.headers().add("h", null);
            return r;
        }, false);
        assertEquals(2 * ROWS, headers.differing());
    }

    @Test
    void timestampsCountWhereTheTableWritesThem() {
        Change later = r -> new ProducerRecord<>(r.topic(), null, 1001L, null, r.value());
        assertEquals(2 * ROWS, verdict(GOOD, later, true).differing());
        assertEquals(0, verdict(GOOD, later, false).differing());
        Change outside = r -> new ProducerRecord<>(r.topic(), null, 6000L, null, r.value());
        assertEquals(1, verdict(GOOD, outside, false).differing());
    }

    @Test
    void anAbortedTransactionIsNotThere() {
        String topic = write(GOOD, r -> r);
        try (KafkaProducer<byte[], byte[]> producer =
                producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topic))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, "{\"id\":0}".getBytes(StandardCharsets.UTF_8)));
            producer.flush();
            producer.abortTransaction();
        }
        assertTrue(judge(false).judge(judge(false).read(topic), ROWS).isExact());
    }
}
