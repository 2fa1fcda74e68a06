package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.KafkaConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProducerPropertiesTest {

    private static final String JAAS =
            PlainLoginModule.class.getName() + " required username=\"me\" password=\"planted\";";

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
        assertEquals(0, config.getSendBufferBytes());
        assertEquals(0, config.getReceiveBufferBytes());
        assertFalse(config.getCanonicalBootstrapServers());
        assertEquals("", config.getMetadataRecovery());
        assertFalse(config.hasRebootstrapTriggerMs());
        assertFalse(config.getNoMetricsPush());
        assertTrue(config.getWarmPool());
    }

    @Test
    void whatOnlyTheConnectionsKnowReachesTheDaemon() throws Exception {
        KafkaConfig config = translate(
                DeliveryGuarantee.EXACTLY_ONCE,
                "send.buffer.bytes", "2147483647",
                "receive.buffer.bytes", "65536",
                "client.dns.lookup", "resolve_canonical_bootstrap_servers_only",
                "enable.metrics.push", "false",
                "metadata.recovery.strategy", "none",
                "metadata.recovery.rebootstrap.trigger.ms", "7000");
        assertEquals(100_000_000, config.getSendBufferBytes());
        assertEquals(65_536, config.getReceiveBufferBytes());
        assertTrue(config.getCanonicalBootstrapServers());
        assertTrue(config.getNoMetricsPush());
        assertEquals("none", config.getMetadataRecovery());
        boolean known = ProducerConfig.configNames().contains("metadata.recovery.rebootstrap.trigger.ms");
        assertEquals(known ? 7000 : 0, config.getRebootstrapTriggerMs());
        // The system's own size.
        assertEquals(translate(DeliveryGuarantee.EXACTLY_ONCE),
                translate(DeliveryGuarantee.EXACTLY_ONCE, "send.buffer.bytes", "-1", "receive.buffer.bytes", "-1"));
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
        "interceptor.classes, a.B",
        "partitioner.class, org.apache.kafka.clients.producer.RoundRobinPartitioner",
        "partitioner.ignore.keys, true",
        "ssl.keystore.key, planted",
        "sasl.mechanism, PLAIN",
        "ssl.truststore.location, /t.jks",
        "sasl.jaas.config, planted",
        "client.dns.lookup, somehow",
        "send.buffer.bytes, -2",
        "metadata.recovery.strategy, hope",
        "no.such.key, 1",
        "delivery.timeout.ms, 10",
        "request.timeout.ms, 900001",
        "metadata.max.age.ms, 0",
        "connections.max.idle.ms, 0",
        "socket.connection.setup.timeout.max.ms, 10",
        "acks, 7"
    })
    void whatCannotBeHonouredIsRefusedByName(String key, String value) {
        whatCannotBeHonouredIsRefusedByName(new String[] {key, value}, key);
    }

    private static void whatCannotBeHonouredIsRefusedByName(String[] properties, String key) {
        NotNative e = assertThrows(NotNative.class, () -> translate(DeliveryGuarantee.AT_LEAST_ONCE, properties));
        assertTrue(e.getMessage().contains(key), e.getMessage());
        assertFalse(e.getMessage().contains("planted"), e.getMessage());
    }

    /** Each is fine without the last pair. */
    @ParameterizedTest
    @CsvSource({
        "SSL, ssl.cipher.suites, TLS_AES_128_GCM_SHA256",
        "SSL, ssl.enabled.protocols, TLSv1.3",
        "SSL, ssl.protocol, TLSv1.2",
        "SSL, ssl.provider, SunJSSE",
        "SSL, ssl.endpoint.identification.algorithm, LDAPS",
        "SSL, ssl.secure.random.implementation, NativePRNG",
        "SSL, ssl.trustmanager.algorithm, SunX509",
        "SSL, ssl.keymanager.algorithm, NewSunX509",
        "SSL, sasl.mechanism, PLAIN",
        "SSL, sasl.jaas.config, planted",
        "SASL_PLAINTEXT, ssl.truststore.location, /t.jks",
        "SASL_SSL, sasl.mechanism, GSSAPI",
        "SASL_SSL, sasl.kerberos.service.name, kafka",
        "SASL_SSL, sasl.login.class, org.apache.kafka.common.security.authenticator.DefaultLogin",
        "SASL_SSL, sasl.oauthbearer.scope, x",
        "SASL_SSL, sasl.oauthbearer.expected.issuer, x",
        "SASL_SSL, sasl.login.read.timeout.ms, 7",
        "SASL_SSL, client.id, ${env:ID}"
    })
    void securityThatCannotBeTranslatedIsRefusedByName(String protocol, String key, String value) throws Exception {
        List<String> fine = new ArrayList<>(List.of("security.protocol", protocol, "config.providers", "env"));
        if (protocol.startsWith("SASL")) {
            fine.addAll(List.of("sasl.mechanism", "PLAIN", "sasl.jaas.config", JAAS));
        }
        KafkaConfig without = translate(DeliveryGuarantee.AT_LEAST_ONCE, fine.toArray(String[]::new));
        fine.addAll(List.of(key, value));
        if (ProducerConfig.configNames().contains(key)) {
            whatCannotBeHonouredIsRefusedByName(fine.toArray(String[]::new), key);
        } else {
            // kafka-clients 3.9, of the connector for Flink 2.0, does not know it and ignores it.
            assertEquals(without, translate(DeliveryGuarantee.AT_LEAST_ONCE, fine.toArray(String[]::new)));
        }
    }

    @Test
    void secretsMayBePlaceholdersAndAreNotInThePlan() throws Exception {
        KafkaConfig config =
                translate(
                        DeliveryGuarantee.EXACTLY_ONCE,
                        "security.protocol", "SASL_SSL",
                        "sasl.mechanism", "PLAIN",
                        "sasl.jaas.config", "${file:/absent:jaas}",
                        "ssl.truststore.location", "/absent.jks",
                        "ssl.truststore.password", "${env:SECRET}",
                        "config.providers", "file,env",
                        "config.providers.file.class", "no.such.Provider");
        assertFalse(config.hasSecurity());
        assertEquals(translate(DeliveryGuarantee.EXACTLY_ONCE), config);
        // Without a provider the text is the value.
        assertThrows(
                NotNative.class,
                () ->
                        translate(
                                DeliveryGuarantee.EXACTLY_ONCE,
                                "security.protocol", "SASL_SSL",
                                "sasl.mechanism", "PLAIN",
                                "sasl.jaas.config", "${file:/absent:jaas}"));
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
