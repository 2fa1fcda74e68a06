package dev.penstock.flink.table;

import dev.penstock.flink.security.KafkaSecurity;
import dev.penstock.flink.security.UnsupportedSecurityException;
import dev.penstock.proto.v1.KafkaConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.kafka.clients.ClientDnsLookup;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Translates the properties of Flink's Kafka sink into the daemon's configuration. A pure function of the properties
 * and of the kafka-clients on the class path: what that version would do is asked of its own parser, so every value
 * that leaves here is explicit and effective. Anything not proven equal is refused with a reason (kafka.md 5).
 */
final class ProducerProperties {

    private static final Logger LOG = LoggerFactory.getLogger(ProducerProperties.class);

    /**
     * KafkaSinkBuilder's default, which it stores as an Integer object: String accessors of Properties do not see it.
     */
    private static final int FLINK_TRANSACTION_TIMEOUT_MS = 3_600_000;

    /** The broker-side wait that librdkafka accepts at most. */
    private static final int MAX_REQUEST_TIMEOUT_MS = 900_000;

    /** The largest buffer that the daemon's client asks the system for; systems give far less. */
    private static final int MAX_SOCKET_BUFFER = 100_000_000;

    private static final String RECOVERY = "metadata.recovery.strategy";
    private static final String RECOVERY_TRIGGER = "metadata.recovery.rebootstrap.trigger.ms";

    /** What KafkaSecurity.resolve reads where the task runs. */
    private static final Set<String> PLACEHOLDERS =
            new TreeSet<>(
                    Set.of(
                            SaslConfigs.SASL_JAAS_CONFIG,
                            "sasl.oauthbearer.client.credentials.client.secret",
                            SslConfigs.SSL_KEY_PASSWORD_CONFIG,
                            SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG,
                            SslConfigs.SSL_KEYSTORE_KEY_CONFIG,
                            SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
                            SslConfigs.SSL_TRUSTSTORE_PASSWORD_CONFIG,
                            SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG));

    private final Map<String, Object> given;
    private final ProducerConfig effective;
    private final boolean transactional;

    private ProducerProperties(Map<String, Object> given, ProducerConfig effective, boolean transactional) {
        this.given = given;
        this.effective = effective;
        this.transactional = transactional;
    }

    /** The properties that KafkaSinkBuilder makes of the table's: its own defaults, overlaid. */
    static Properties ofSink(Properties table) {
        Properties sink = new Properties();
        sink.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        sink.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        sink.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, FLINK_TRANSACTION_TIMEOUT_MS);
        sink.putAll(table);
        return sink;
    }

    /**
     * Translates.
     *
     * @param sink the properties of the sink, see {@link #ofSink}
     * @throws NotNative naming the first property that the daemon could not honour
     */
    static KafkaConfig translate(Properties sink, DeliveryGuarantee guarantee, boolean warmPool) throws NotNative {
        Map<String, Object> given = new HashMap<>();
        // Not getProperty: it does not see values that are no Strings.
        sink.forEach((key, value) -> given.put(key.toString(), value));
        boolean transactional = guarantee == DeliveryGuarantee.EXACTLY_ONCE;
        Thread thread = Thread.currentThread();
        ClassLoader planner = thread.getContextClassLoader();
        thread.setContextClassLoader(kafkaLoader(planner));
        try {
            ProducerProperties properties =
                    new ProducerProperties(given, parse(given, transactional), transactional);
            properties.refuseUntranslatable();
            return properties.toProto(warmPool);
        } finally {
            thread.setContextClassLoader(planner);
        }
    }

    /**
     * Kafka's classes look for their own defaults in the thread's class loader, and fail for good when those are not there. That of the
     * planner does not see a connector that came by ADD JAR.
     */
    private static ClassLoader kafkaLoader(ClassLoader planner) {
        try {
            if (planner != null && Class.forName(ProducerConfig.class.getName(), false, planner) == ProducerConfig.class) {
                return planner;
            }
        } catch (ClassNotFoundException e) {
            // Then it is beside Penstock.
        }
        return ProducerProperties.class.getClassLoader();
    }

    private static ProducerConfig parse(Map<String, Object> given, boolean transactional) throws NotNative {
        Map<String, Object> asked = new HashMap<>(given);
        // The providers are asked where the task runs; this machine may not even have what they read.
        asked.keySet().removeIf(key -> key.equals("config.providers") || key.startsWith(PropertyTreatment.PROVIDER_PREFIX));
        if (transactional) {
            // Decides what acks, idempotence and retries may be.
            asked.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "penstock");
        }
        try {
            return new ProducerConfig(asked);
        } catch (ConfigException e) {
            throw new NotNative("the Kafka client refuses its properties: %s", e.getMessage());
        }
    }

    private void refuseUntranslatable() throws NotNative {
        for (String key : given.keySet()) {
            switch (PropertyTreatment.of(key)) {
                case UNKNOWN -> throw new NotNative(
                        "property '%s' is not known to Penstock; remove it if it does nothing for you", key);
                case DEFAULT_ONLY -> refuseUnlessDefault(key);
                default -> {
                    // Translated below, or without effect on the daemon.
                }
            }
            if (isPlaceholder(key) && !PLACEHOLDERS.contains(key)) {
                throw new NotNative(
                        "property '%s' is for 'config.providers' to resolve, which is native for %s; write the value"
                                + " itself",
                        key, PLACEHOLDERS);
            }
        }
        try {
            KafkaSecurity.check(given.keySet(), effective.values(), this::isPlaceholder);
        } catch (UnsupportedSecurityException e) {
            throw new NotNative(e.getMessage());
        }
    }

    /** Without providers the text stands for itself, as in the Kafka client. */
    private boolean isPlaceholder(String key) {
        return given.containsKey("config.providers")
                && !key.startsWith("config.providers")
                && String.valueOf(given.get(key)).contains("${");
    }

    private void refuseUnlessDefault(String key) throws NotNative {
        Object value = effective.values().get(key);
        Object standard = ProducerConfig.configDef().defaultValues().get(key);
        if (!Objects.equals(value, standard)) {
            throw new NotNative(
                    "property '%s' is not translated; only its default (%s) is native", key, standard);
        }
    }

    private KafkaConfig toProto(boolean warmPool) throws NotNative {
        KafkaConfig.Builder config =
                KafkaConfig.newBuilder()
                        .addAllBootstrapServers(bootstrapServers())
                        .setClientId(Objects.toString(given.get(ProducerConfig.CLIENT_ID_CONFIG), ""))
                        .setAcks(Short.parseShort(effective.getString(ProducerConfig.ACKS_CONFIG).replace("all", "-1")))
                        .setIdempotence(effective.getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG))
                        .setDeliveryTimeoutMs(deliveryTimeout())
                        .setRequestTimeoutMs(requestTimeout())
                        .setMaxBlockMs(millis(ProducerConfig.MAX_BLOCK_MS_CONFIG))
                        .setTransactionTimeoutMs(effective.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG))
                        .setMaxRequestBytes(effective.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG))
                        .setConnectionSetupTimeoutMs(connectionSetupTimeout())
                        .setConnectionsMaxIdleMs(connectionsMaxIdle())
                        .setMetadataMaxAgeMs(metadataMaxAge())
                        .setMaxInFlight(effective.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION))
                        .setWarmPool(warmPool);
        backoffs(config);
        compression(config);
        network(config);
        if (given.containsKey(ProducerConfig.BATCH_SIZE_CONFIG)) {
            // Java's default of 16 KiB is a buffer per partition and would make the daemon's batches far too small.
            config.setBatchBytes(Math.max(1, effective.getInt(ProducerConfig.BATCH_SIZE_CONFIG)));
        }
        if (given.containsKey(ProducerConfig.LINGER_MS_CONFIG)) {
            config.setLingerMs(millis(ProducerConfig.LINGER_MS_CONFIG));
        }
        if (given.containsKey(ProducerConfig.BUFFER_MEMORY_CONFIG)) {
            // Java's default of 32 MiB would always be full here, and a barrier waits until the queue is empty.
            config.setBufferBytes(effective.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG));
        }
        if (given.containsKey(ProducerConfig.RETRIES_CONFIG)) {
            config.setRetries(effective.getInt(ProducerConfig.RETRIES_CONFIG));
        }
        return config.build();
    }

    private List<String> bootstrapServers() {
        return effective.getList(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG);
    }

    private void backoffs(KafkaConfig.Builder config) {
        config.setRetryBackoffMs(Math.max(1, millis(ProducerConfig.RETRY_BACKOFF_MS_CONFIG)))
                .setRetryBackoffMaxMs(Math.max(1, millis(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG)))
                .setReconnectBackoffMs(millis(ProducerConfig.RECONNECT_BACKOFF_MS_CONFIG))
                .setReconnectBackoffMaxMs(millis(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG));
    }

    private void compression(KafkaConfig.Builder config) {
        String type = effective.getString(ProducerConfig.COMPRESSION_TYPE_CONFIG);
        config.setCompression(type);
        String levelKey = "compression." + type + ".level";
        if (given.containsKey(levelKey)) {
            config.setCompressionLevel(effective.getInt(levelKey));
        }
    }

    /** Where the defaults are the daemon's own, only what the user gives counts: none of it changes a record. */
    private void network(KafkaConfig.Builder config) {
        if (given.containsKey(ProducerConfig.SEND_BUFFER_CONFIG)) {
            config.setSendBufferBytes(socketBuffer(ProducerConfig.SEND_BUFFER_CONFIG));
        }
        if (given.containsKey(ProducerConfig.RECEIVE_BUFFER_CONFIG)) {
            config.setReceiveBufferBytes(socketBuffer(ProducerConfig.RECEIVE_BUFFER_CONFIG));
        }
        config.setCanonicalBootstrapServers(effective.getString(ProducerConfig.CLIENT_DNS_LOOKUP_CONFIG)
                .equals(ClientDnsLookup.RESOLVE_CANONICAL_BOOTSTRAP_SERVERS_ONLY.toString()));
        config.setNoMetricsPush(!effective.getBoolean(ProducerConfig.ENABLE_METRICS_PUSH_CONFIG));
        if (given.containsKey(RECOVERY)) {
            config.setMetadataRecovery(effective.getString(RECOVERY).toLowerCase(Locale.ROOT));
        }
        // The client of connector 4.0 has no such property, and ignores it.
        if (given.containsKey(RECOVERY_TRIGGER) && effective.values().containsKey(RECOVERY_TRIGGER)) {
            config.setRebootstrapTriggerMs(millis(RECOVERY_TRIGGER));
        }
    }

    /** -1 leaves the buffer to the operating system, which is 0 for the daemon; so does Java's 0. */
    private int socketBuffer(String key) {
        return Math.min(MAX_SOCKET_BUFFER, Math.max(0, effective.getInt(key)));
    }

    /**
     * KafkaProducer raises the default to linger + request timeout and refuses a given value below that. In a
     * transaction the daemon's client needs it within the transaction timeout; nothing is lost by that, because a
     * transaction that is older can only be aborted.
     */
    private int deliveryTimeout() throws NotNative {
        int timeout = effective.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        long least =
                Math.min(
                        Integer.MAX_VALUE,
                        effective.getLong(ProducerConfig.LINGER_MS_CONFIG)
                                + effective.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG));
        if (timeout < least) {
            if (given.containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
                throw new NotNative(
                        "property 'delivery.timeout.ms' is %d; the Kafka client wants at least linger.ms +"
                                + " request.timeout.ms = %d",
                        timeout, least);
            }
            timeout = (int) least;
        }
        int transaction = effective.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
        if (transactional && timeout > transaction) {
            LOG.info("delivery.timeout.ms {} is lowered to transaction.timeout.ms {}.", timeout, transaction);
            timeout = transaction;
        }
        return timeout;
    }

    private int requestTimeout() throws NotNative {
        int timeout = effective.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        if (timeout < 1 || timeout > MAX_REQUEST_TIMEOUT_MS) {
            throw new NotNative(
                    "property 'request.timeout.ms' is %d; 1 to %d is native", timeout, MAX_REQUEST_TIMEOUT_MS);
        }
        return timeout;
    }

    private int connectionSetupTimeout() throws NotNative {
        long base = effective.getLong(ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG);
        long max = effective.getLong(ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG);
        if (max < base) {
            throw new NotNative(
                    "property 'socket.connection.setup.timeout.max.ms' is %d, below"
                            + " socket.connection.setup.timeout.ms %d; raise it",
                    max, base);
        }
        return clamp(base);
    }

    /** A negative value of the Java client means never, which is 0 for the daemon; Java's 0 has no equal. */
    private int connectionsMaxIdle() throws NotNative {
        long idle = effective.getLong(ProducerConfig.CONNECTIONS_MAX_IDLE_MS_CONFIG);
        if (idle == 0) {
            throw new NotNative("property 'connections.max.idle.ms' is 0; use a positive number or -1 for never");
        }
        return clamp(Math.max(0, idle));
    }

    private int metadataMaxAge() throws NotNative {
        int age = millis(ProducerConfig.METADATA_MAX_AGE_CONFIG);
        if (age == 0) {
            throw new NotNative("property 'metadata.max.age.ms' is 0; use at least 1");
        }
        return age;
    }

    private int millis(String key) {
        return clamp(effective.getLong(key));
    }

    /** 24 days stand for anything longer. */
    private static int clamp(long millis) {
        return (int) Math.min(Integer.MAX_VALUE, millis);
    }
}
