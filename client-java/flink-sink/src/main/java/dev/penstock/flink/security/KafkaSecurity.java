package dev.penstock.flink.security;

import dev.penstock.proto.v1.Sasl;
import dev.penstock.proto.v1.Security;
import dev.penstock.proto.v1.Tls;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/**
 * Translates the security properties of a producer in two steps. When a table is planned they are judged ({@link
 * #check}); the files and placeholders that they name are read where the task runs, each time it starts ({@link
 * #resolve}).
 */
public final class KafkaSecurity {

    /** The protocols of a client that names none; what the daemon speaks. */
    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");

    private final Map<String, ?> values;
    private final SecurityProtocol protocol;

    private KafkaSecurity(Map<String, ?> values) {
        this.values = values;
        this.protocol =
                SecurityProtocol.forName((String) values.get(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG));
    }

    /**
     * Judges the properties without reading a file.
     *
     * @param given the keys that the user has set
     * @param values the effective values as the Kafka client has parsed them
     * @param unresolved whether the value of a property is a placeholder still
     * @throws UnsupportedSecurityException with the reason why the daemon could not do the same
     */
    public static void check(Set<String> given, Map<String, ?> values, Predicate<String> unresolved)
            throws UnsupportedSecurityException {
        KafkaSecurity security = new KafkaSecurity(values);
        security.refuseIdle(given);
        if (security.encrypts()) {
            security.checkTls();
        }
        if (security.authenticates()) {
            SaslLogin.checkMechanism(values);
            if (!unresolved.test("sasl.jaas.config")) {
                SaslLogin.of(values);
            }
        }
    }

    /**
     * Reads everything that the properties name.
     *
     * @param producer the properties of the stock sink's producers
     * @return null for PLAINTEXT
     * @throws UnsupportedSecurityException when something cannot be read or used
     */
    public static Security resolve(Properties producer) throws UnsupportedSecurityException {
        Object protocol = producer.get(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG);
        if (protocol == null || "PLAINTEXT".equalsIgnoreCase(protocol.toString())) {
            return null;
        }
        KafkaSecurity security = new KafkaSecurity(parse(producer));
        Security.Builder message = Security.newBuilder();
        if (security.encrypts()) {
            security.checkTls();
            message.setTls(security.tls());
        }
        if (security.authenticates()) {
            message.setSasl(security.sasl());
        }
        return message.build();
    }

    private static Map<String, ?> parse(Properties producer) throws UnsupportedSecurityException {
        try {
            return new ProducerConfig(producer).values();
        } catch (RuntimeException e) {
            if (!producer.containsKey(AbstractConfig.CONFIG_PROVIDERS_CONFIG)) {
                throw new UnsupportedSecurityException("the Kafka client refuses its properties: %s", e.getMessage());
            }
            // The text is a provider's and may hold what it has read.
            throw new UnsupportedSecurityException(
                    "the providers of property 'config.providers' do not give the values (%s); look at what they read on"
                            + " this TaskManager",
                    e.getClass().getSimpleName());
        }
    }

    private boolean encrypts() {
        return protocol == SecurityProtocol.SSL || protocol == SecurityProtocol.SASL_SSL;
    }

    private boolean authenticates() {
        return protocol == SecurityProtocol.SASL_PLAINTEXT || protocol == SecurityProtocol.SASL_SSL;
    }

    /** Somebody who sets such a property expects it to do something. */
    private void refuseIdle(Set<String> given) throws UnsupportedSecurityException {
        for (String key : given) {
            if (key.startsWith("ssl.") && !encrypts() || key.startsWith("sasl.") && !authenticates()) {
                throw new UnsupportedSecurityException(
                        "property '%s' does nothing while 'security.protocol' is '%s'; remove it or choose another"
                                + " protocol",
                        key, protocol);
            }
        }
    }

    private void checkTls() throws UnsupportedSecurityException {
        List<?> protocols = (List<?>) values.get(SslConfigs.SSL_ENABLED_PROTOCOLS_CONFIG);
        if (!PROTOCOLS.equals(Set.copyOf(protocols))) {
            throw new UnsupportedSecurityException(
                    "property 'ssl.enabled.protocols' is %s; only its default %s is native", protocols, PROTOCOLS);
        }
        String algorithm = endpointIdentification();
        if (!algorithm.isEmpty() && !algorithm.equals("https")) {
            throw new UnsupportedSecurityException(
                    "property 'ssl.endpoint.identification.algorithm' is '%s'; https and the empty text are native",
                    algorithm);
        }
    }

    private String endpointIdentification() {
        Object algorithm = values.get(SslConfigs.SSL_ENDPOINT_IDENTIFICATION_ALGORITHM_CONFIG);
        return algorithm == null ? "" : algorithm.toString().toLowerCase(Locale.ROOT);
    }

    private Tls tls() throws UnsupportedSecurityException {
        Tls.Builder tls =
                Tls.newBuilder()
                        .setCertificateAuthorities(TrustMaterial.of(values))
                        .setSkipEndpointIdentification(endpointIdentification().isEmpty());
        KeyMaterial.of(values)
                .ifPresent(key -> tls.setCertificateChain(key.chain()).setPrivateKey(key.privateKey()));
        return tls.build();
    }

    private Sasl sasl() throws UnsupportedSecurityException {
        return SaslLogin.of(values).toProto();
    }
}
