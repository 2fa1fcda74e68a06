package dev.penstock.integration.judge;

import dev.penstock.integration.harness.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a whole topic as a read_committed consumer sees it. */
public final class TopicReader {
    private static final Duration POLL = Duration.ofMillis(200);
    /** A commit is answered before its markers are in the log; a loaded broker took over a second for them. */
    private static final Duration MARKERS = Duration.ofSeconds(10);

    private TopicReader() {}

    /**
     * Hands over the records of all partitions from their start to the last stable offset, those of one partition in
     * their order. The last stable offset only moves while transactions end, so a reader that must see everything calls
     * this after the job has ended. Markers that are still on their way are waited for, a transaction that stays open is
     * not.
     */
    public static void read(String bootstrapServers, String topic, Duration timeout,
            Consumer<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, Object> settings = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "10000",
                // The broker holds back an answer without records that long, and nothing is written any more.
                ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "50");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings,
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic, timeout).stream()
                    .map(p -> new TopicPartition(topic, p.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = stableEnds(consumer, bootstrapServers, partitions, timeout);
            Deadline.in(timeout).await("the end of topic " + topic, () -> {
                consumer.poll(POLL).forEach(records);
                return partitions.stream().allMatch(p -> consumer.position(p) >= ends.get(p));
            });
        }
    }

    private static Map<TopicPartition, Long> stableEnds(KafkaConsumer<byte[], byte[]> committed, String bootstrapServers,
            List<TopicPartition> partitions, Duration timeout) {
        Map<String, Object> settings = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        try (KafkaConsumer<byte[], byte[]> everything = new KafkaConsumer<>(settings,
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long deadline = System.nanoTime() + MARKERS.toNanos();
            while (true) {
                // For a read_committed consumer the end offset is the last stable offset, else what has been written.
                Map<TopicPartition, Long> written = everything.endOffsets(partitions, timeout);
                Map<TopicPartition, Long> ends = committed.endOffsets(partitions, timeout);
                if (ends.equals(written) || System.nanoTime() > deadline) {
                    return ends;
                }
                LockSupport.parkNanos(POLL.toNanos());
            }
        }
    }
}
