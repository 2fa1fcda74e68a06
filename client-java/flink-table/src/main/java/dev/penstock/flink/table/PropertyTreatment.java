package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;

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

    /** Properties of the providers that 'config.providers' names; their names are the user's. */
    static final String PROVIDER_PREFIX = "config.providers.";

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
                ProducerConfig.METADATA_MAX_AGE_CONFIG,
                ProducerConfig.CLIENT_DNS_LOOKUP_CONFIG,
                ProducerConfig.SEND_BUFFER_CONFIG,
                ProducerConfig.RECEIVE_BUFFER_CONFIG,
                ProducerConfig.ENABLE_METRICS_PUSH_CONFIG,
                "metadata.recovery.strategy",
                // Not in kafka-clients 3.9.
                "metadata.recovery.rebootstrap.trigger.ms",
                CommonClientConfigs.SECURITY_PROTOCOL_CONFIG,
                SslConfigs.SSL_TRUSTSTORE_TYPE_CONFIG,
                SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG,
                SslConfigs.SSL_TRUSTSTORE_PASSWORD_CONFIG,
                SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG,
                SslConfigs.SSL_KEYSTORE_TYPE_CONFIG,
                SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG,
                SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG,
                SslConfigs.SSL_KEYSTORE_KEY_CONFIG,
                SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
                SslConfigs.SSL_KEY_PASSWORD_CONFIG,
                SslConfigs.SSL_ENABLED_PROTOCOLS_CONFIG,
                SslConfigs.SSL_ENDPOINT_IDENTIFICATION_ALGORITHM_CONFIG,
                SaslConfigs.SASL_MECHANISM,
                SaslConfigs.SASL_JAAS_CONFIG,
                SaslConfigs.SASL_LOGIN_CALLBACK_HANDLER_CLASS,
                SaslConfigs.SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL,
                "sasl.oauthbearer.scope",
                "sasl.oauthbearer.client.credentials.client.id",
                "sasl.oauthbearer.client.credentials.client.secret");
        put(
                JAVA_ONLY,
                // Resolved by the Kafka client's own code before anything is translated.
                "config.providers",
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
                ProducerConfig.PARTITIONER_CLASS_CONFIG,
                ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
                ProducerConfig.PARTITIONER_AVAILABILITY_TIMEOUT_MS_CONFIG,
                ProducerConfig.INTERCEPTOR_CLASSES_CONFIG,
                ProducerConfig.METRIC_REPORTER_CLASSES_CONFIG,
                // Not in kafka-clients 3.9.
                "transaction.two.phase.commit.enable",
                "security.providers",
                SslConfigs.SSL_PROTOCOL_CONFIG,
                SslConfigs.SSL_PROVIDER_CONFIG,
                // Names of OpenSSL's differ, and it takes them for TLS 1.2 only.
                SslConfigs.SSL_CIPHER_SUITES_CONFIG,
                SslConfigs.SSL_KEYMANAGER_ALGORITHM_CONFIG,
                SslConfigs.SSL_TRUSTMANAGER_ALGORITHM_CONFIG,
                SslConfigs.SSL_SECURE_RANDOM_IMPLEMENTATION_CONFIG,
                SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG,
                SaslConfigs.SASL_CLIENT_CALLBACK_HANDLER_CLASS,
                SaslConfigs.SASL_LOGIN_CLASS,
                SaslConfigs.SASL_LOGIN_CONNECT_TIMEOUT_MS,
                SaslConfigs.SASL_LOGIN_READ_TIMEOUT_MS,
                SaslConfigs.SASL_LOGIN_RETRY_BACKOFF_MS,
                SaslConfigs.SASL_LOGIN_RETRY_BACKOFF_MAX_MS,
                SaslConfigs.SASL_LOGIN_REFRESH_WINDOW_FACTOR,
                SaslConfigs.SASL_LOGIN_REFRESH_WINDOW_JITTER,
                SaslConfigs.SASL_LOGIN_REFRESH_MIN_PERIOD_SECONDS,
                SaslConfigs.SASL_LOGIN_REFRESH_BUFFER_SECONDS,
                // GSSAPI is not native; without it these do nothing.
                SaslConfigs.SASL_KERBEROS_SERVICE_NAME,
                SaslConfigs.SASL_KERBEROS_KINIT_CMD,
                SaslConfigs.SASL_KERBEROS_TICKET_RENEW_WINDOW_FACTOR,
                SaslConfigs.SASL_KERBEROS_TICKET_RENEW_JITTER,
                SaslConfigs.SASL_KERBEROS_MIN_TIME_BEFORE_RELOGIN,
                // Ways to a token other than client credentials, and checks of a token by the client.
                "sasl.oauthbearer.jwt.retriever.class",
                "sasl.oauthbearer.jwt.validator.class",
                "sasl.oauthbearer.assertion.algorithm",
                "sasl.oauthbearer.assertion.claim.aud",
                "sasl.oauthbearer.assertion.claim.exp.seconds",
                "sasl.oauthbearer.assertion.claim.iss",
                "sasl.oauthbearer.assertion.claim.jti.include",
                "sasl.oauthbearer.assertion.claim.nbf.seconds",
                "sasl.oauthbearer.assertion.claim.sub",
                "sasl.oauthbearer.assertion.file",
                "sasl.oauthbearer.assertion.private.key.file",
                "sasl.oauthbearer.assertion.private.key.passphrase",
                "sasl.oauthbearer.assertion.template.file",
                SaslConfigs.SASL_OAUTHBEARER_SCOPE_CLAIM_NAME,
                SaslConfigs.SASL_OAUTHBEARER_SUB_CLAIM_NAME,
                SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_URL,
                SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_REFRESH_MS,
                SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_RETRY_BACKOFF_MS,
                SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_RETRY_BACKOFF_MAX_MS,
                SaslConfigs.SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS,
                SaslConfigs.SASL_OAUTHBEARER_EXPECTED_AUDIENCE,
                SaslConfigs.SASL_OAUTHBEARER_EXPECTED_ISSUER,
                SaslConfigs.SASL_OAUTHBEARER_HEADER_URLENCODE);
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
        if (key.startsWith(PROVIDER_PREFIX)) {
            return JAVA_ONLY;
        }
        // The table is often a source too: a property that only the consumer has does nothing to a producer.
        boolean consumerOnly =
                ConsumerConfig.configNames().contains(key) && !ProducerConfig.configNames().contains(key);
        return consumerOnly ? JAVA_ONLY : UNKNOWN;
    }
}
