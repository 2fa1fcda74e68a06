package dev.penstock.integration.committer;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes transactions that are flushed and left open, as a sink writer leaves them for its committer. */
final class SealedTransactions {
    static final int ROWS_EACH = 50;

    private SealedTransactions() {}

    /** Properties as the sink's, with the short limits that make a stopped broker a timeout within a test. */
    static Properties properties(String bootstrapServers) {
        Properties properties = new Properties();
        properties.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        properties.setProperty(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.setProperty(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.setProperty(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "600000");
        properties.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, "4000");
        properties.setProperty(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "2000");
        properties.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "4000");
        return properties;
    }

    /** Seals so many transactions of {@link #ROWS_EACH} rows; row ids count on from one to the next. */
    static List<KafkaCommittable> write(Properties properties, String topic, int count) {
        Properties patient = new Properties();
        patient.putAll(properties);
        // Writing is not what is tested here, and a loaded machine is slow.
        patient.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, "60000");
        patient.setProperty(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "30000");
        patient.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "60000");
        List<KafkaCommittable> committables = new ArrayList<>();
        for (int t = 0; t < count; t++) {
            committables.add(writeOne(patient, topic, t));
        }
        return committables;
    }

    private static KafkaCommittable writeOne(Properties properties, String topic, int number) {
        try (FlinkKafkaInternalProducer<byte[], byte[]> producer =
                new FlinkKafkaInternalProducer<>(properties, topic + "-0-" + (number + 1))) {
            producer.initTransactions();
            return seal(producer, topic, number);
        }
    }

    /** Fills a transaction of an initialised producer, and destroys the producer without ending it. */
    static KafkaCommittable seal(FlinkKafkaInternalProducer<byte[], byte[]> producer, String topic, int number) {
        producer.beginTransaction();
        for (int i = 0; i < ROWS_EACH; i++) {
            String value = "{\"id\":" + (number * ROWS_EACH + i) + "}";
            producer.send(new ProducerRecord<>(topic, value.getBytes(StandardCharsets.UTF_8)));
        }
        producer.flush();
        KafkaCommittable committable = new KafkaCommittable(
                producer.getProducerId(), producer.getEpoch(), producer.getTransactionalId(), null);
        // Without this mark, closing would abort.
        producer.precommitTransaction();
        producer.close(Duration.ZERO);
        return committable;
    }
}
