package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * What becomes of each property of the Kafka producer (kafka.md 5). The table is complete for the kafka-clients on the
 * class path, which a test holds: a new version that adds a property must be looked at before anything is native with
 * it.
 */
enum PropertyTreatment {
    /** Its value goes to the daemon. */
    TRANSLATED,
    /** Says something about the Java client only; any value is fine. */
    JAVA_ONLY,
    /** Set by Flink or Penstock; a user's value would not reach the stock producer either, or is refused by it. */
    RUNTIME,
    /** Fine while it has the default value. */
    DEFAULT_ONLY,
    /** Nobody has looked at it. */
    UNKNOWN;

    private static final Map<String, PropertyTreatment> TABLE = new HashMap<>();

    static {
        put(
                TRANSLATED,
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                ProducerConfig.CLIENT_ID_CONFIG,
                ProducerConfig.ACKS_CONFIG,
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                ProducerConfig.RETRIES_CONFIG,
                ProducerConfig.RETRY_BACKOFF_MS_CONFIG,
                ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG,
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                ProducerConfig.LINGER_MS_CONFIG,
                ProducerConfig.BATCH_SIZE_CONFIG,
                ProducerConfig.BUFFER_MEMORY_CONFIG,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
                ProducerConfig.COMPRESSION_TYPE_CONFIG,
                ProducerConfig.COMPRESSION_GZIP_LEVEL_CONFIG,
                ProducerConfig.COMPRESSION_LZ4_LEVEL_CONFIG,
                ProducerConfig.COMPRESSION_ZSTD_LEVEL_CONFIG,
                ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
                ProducerConfig.RECONNECT_BACKOFF_MS_CONFIG,
                ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG,
                ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG,
                ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG,
                ProducerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG,
                ProducerConfig.METADATA_MAX_AGE_CONFIG);
        put(
                JAVA_ONLY,
                // Memory of the Java client's metadata cache.
                ProducerConfig.METADATA_MAX_IDLE_CONFIG,
                // Which partition an unkeyed row lands on is random in both clients. The constant is misspelt in kafka-clients 3.9.
                "partitioner.adaptive.partitioning.enable",
                // Of kafka-clients 3.9.
                "auto.include.jmx.reporter",
                ProducerConfig.METRICS_NUM_SAMPLES_CONFIG,
                ProducerConfig.METRICS_RECORDING_LEVEL_CONFIG,
                ProducerConfig.METRICS_SAMPLE_WINDOW_MS_CONFIG,
                // Flink's own keys; Penstock registers no bridged metrics.
                "flink.disable-metrics",
                "register.producer.metrics");
        put(
                RUNTIME,
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        put(
                DEFAULT_ONLY,
                ProducerConfig.CLIENT_DNS_LOOKUP_CONFIG,
                ProducerConfig.SEND_BUFFER_CONFIG,
                ProducerConfig.RECEIVE_BUFFER_CONFIG,
                ProducerConfig.PARTITIONER_CLASS_CONFIG,
                ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
                ProducerConfig.PARTITIONER_AVAILABILITY_TIMEOUT_MS_CONFIG,
                ProducerConfig.INTERCEPTOR_CLASSES_CONFIG,
                ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG,
                ProducerConfig.ENABLE_METRICS_PUSH_CONFIG,
                "metadata.recovery.strategy",
                "metadata.recovery.rebootstrap.trigger.ms",
                // Not in kafka-clients 3.9.
                "transaction.two.phase.commit.enable",
                "config.providers",
                "security.protocol",
                "security.providers");
    }

    private static void put(PropertyTreatment treatment, String... keys) {
        for (String key : keys) {
            TABLE.put(key, treatment);
        }
    }

    /** The treatment of a property. */
    static PropertyTreatment of(String key) {
        PropertyTreatment known = TABLE.get(key);
        if (known != null) {
            return known;
        }
        // Without effect while security.protocol is PLAINTEXT, but somebody who sets them expects security.
        if (isSecurity(key)) {
            return DEFAULT_ONLY;
        }
        // The table is often a source too: a property that only the consumer has does nothing to a producer.
        boolean consumerOnly =
                ConsumerConfig.configNames().contains(key) && !ProducerConfig.configNames().contains(key);
        return consumerOnly ? JAVA_ONLY : UNKNOWN;
    }

    /** The families of security properties that this version neither translates nor may lose. */
    private static boolean isSecurity(String key) {
        return Set.of("ssl.", "sasl.").stream().anyMatch(key::startsWith)
                && ProducerConfig.configNames().contains(key);
    }
}
