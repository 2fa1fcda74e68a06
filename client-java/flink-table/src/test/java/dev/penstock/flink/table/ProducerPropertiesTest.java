package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.KafkaConfig;
import java.util.List;
import java.util.Properties;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProducerPropertiesTest {

    /** Fails when kafka-clients gets a property that nobody has classified. */
    @Test
    void everyPropertyOfTheKafkaClientIsClassified() {
        List<String> unknown =
                ProducerConfig.configNames().stream()
                        .filter(key -> PropertyTreatment.of(key) == PropertyTreatment.UNKNOWN)
                        .toList();
        assertEquals(List.of(), unknown);
    }

    @Test
    void defaultsAreExplicitAndThoseOfTheKafkaClientAndFlink() throws Exception {
        KafkaConfig config = translate(DeliveryGuarantee.EXACTLY_ONCE);
        assertEquals(List.of("h1:9092", "h2:9092"), config.getBootstrapServersList());
        assertEquals(-1, config.getAcks());
        assertTrue(config.getIdempotence());
        assertEquals(120_000, config.getDeliveryTimeoutMs());
        assertEquals(30_000, config.getRequestTimeoutMs());
        assertEquals(60_000, config.getMaxBlockMs());
        assertEquals(3_600_000, config.getTransactionTimeoutMs());
        assertFalse(config.hasLingerMs());
        assertEquals(0, config.getBatchBytes());
        assertEquals(0, config.getBufferBytes());
        assertEquals(1_048_576, config.getMaxRequestBytes());
        assertEquals("none", config.getCompression());
        assertFalse(config.hasCompressionLevel());
        assertEquals(100, config.getRetryBackoffMs());
        assertEquals(1000, config.getRetryBackoffMaxMs());
        assertEquals(50, config.getReconnectBackoffMs());
        assertEquals(1000, config.getReconnectBackoffMaxMs());
        assertEquals(10_000, config.getConnectionSetupTimeoutMs());
        assertEquals(540_000, config.getConnectionsMaxIdleMs());
        assertEquals(300_000, config.getMetadataMaxAgeMs());
        assertEquals(5, config.getMaxInFlight());
        assertFalse(config.hasRetries());
        assertTrue(config.getWarmPool());
    }

    @Test
    void givenValuesReachTheDaemon() throws Exception {
        KafkaConfig config =
                translate(
                        DeliveryGuarantee.AT_LEAST_ONCE,
                        "acks", "1",
                        "batch.size", "0",
                        "client.id", "me",
                        "compression.type", "zstd",
                        "compression.zstd.level", "7",
                        "connections.max.idle.ms", "-1",
                        "linger.ms", "20",
                        "max.block.ms", "9223372036854775807",
                        "retries", "3",
                        "retry.backoff.ms", "0",
                        "transaction.timeout.ms", "600000");
        assertEquals(1, config.getAcks());
        // The Kafka client switches it off because of acks.
        assertFalse(config.getIdempotence());
        assertEquals(1, config.getBatchBytes());
        assertEquals("me", config.getClientId());
        assertEquals("zstd", config.getCompression());
        assertEquals(7, config.getCompressionLevel());
        assertEquals(0, config.getConnectionsMaxIdleMs());
        assertEquals(20, config.getLingerMs());
        assertEquals(Integer.MAX_VALUE, config.getMaxBlockMs());
        assertEquals(3, config.getRetries());
        assertEquals(1, config.getRetryBackoffMs());
        assertEquals(600_000, config.getTransactionTimeoutMs());
    }

    @Test
    void deliveryTimeoutFollowsLingerAndStaysWithinTheTransaction() throws Exception {
        assertEquals(
                231_000,
                translate(
                                DeliveryGuarantee.AT_LEAST_ONCE,
                                "linger.ms", "1000",
                                "request.timeout.ms", "230000")
                        .getDeliveryTimeoutMs());
        assertEquals(
                60_000,
                translate(DeliveryGuarantee.EXACTLY_ONCE, "transaction.timeout.ms", "60000").getDeliveryTimeoutMs());
        assertEquals(
                120_000,
                translate(DeliveryGuarantee.NONE, "transaction.timeout.ms", "60000").getDeliveryTimeoutMs());
    }

    @ParameterizedTest
    @CsvSource({
        "security.protocol, SSL",
        "interceptor.classes, a.B",
        "partitioner.class, org.apache.kafka.clients.producer.RoundRobinPartitioner",
        "partitioner.ignore.keys, true",
        "enable.metrics.push, false",
        "config.providers, env",
        "ssl.truststore.location, /t.jks",
        "sasl.jaas.config, secret",
        "client.dns.lookup, resolve_canonical_bootstrap_servers_only",
        "send.buffer.bytes, 1",
        "no.such.key, 1",
        "delivery.timeout.ms, 10",
        "request.timeout.ms, 900001",
        "metadata.max.age.ms, 0",
        "connections.max.idle.ms, 0",
        "socket.connection.setup.timeout.max.ms, 10",
        "acks, 7"
    })
    void whatCannotBeHonouredIsRefusedByName(String key, String value) {
        NotNative e = assertThrows(NotNative.class, () -> translate(DeliveryGuarantee.AT_LEAST_ONCE, key, value));
        assertTrue(e.getMessage().contains(key), e.getMessage());
        assertFalse(e.getMessage().contains("secret"), e.getMessage());
    }

    /** kafka-clients 3.9, of the connector for Flink 2.0, has no such property, and ignores it. */
    @Test
    void twoPhaseCommitIsRefusedWhereTheStockClientHasIt() throws Exception {
        String key = "transaction.two.phase.commit.enable";
        if (ProducerConfig.configNames().contains(key)) {
            NotNative e =
                    assertThrows(NotNative.class, () -> translate(DeliveryGuarantee.EXACTLY_ONCE, key, "true"));
            assertTrue(e.getMessage().contains(key), e.getMessage());
        } else {
            assertEquals(
                    translate(DeliveryGuarantee.EXACTLY_ONCE),
                    translate(DeliveryGuarantee.EXACTLY_ONCE, key, "true"));
        }
    }

    @Test
    void exactlyOnceWithoutAllAcknowledgementsIsRefusedAsTheKafkaClientDoes() {
        assertThrows(NotNative.class, () -> translate(DeliveryGuarantee.EXACTLY_ONCE, "acks", "1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"group.id", "auto.offset.reset", "metrics.num.samples", "flink.disable-metrics"})
    void whatOnlyTheJavaClientOrAConsumerKnowsIsIgnored(String key) throws Exception {
        String value = key.startsWith("metrics") ? "3" : "x";
        assertEquals(
                translate(DeliveryGuarantee.AT_LEAST_ONCE),
                translate(DeliveryGuarantee.AT_LEAST_ONCE, key, value));
    }

    private static KafkaConfig translate(DeliveryGuarantee guarantee, String... keysAndValues) throws NotNative {
        Properties table = new Properties();
        table.put("bootstrap.servers", "h1:9092,h2:9092");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            table.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return ProducerProperties.translate(ProducerProperties.ofSink(table), guarantee, true);
    }
}
