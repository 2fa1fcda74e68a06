package dev.penstock.flink.security;

import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * Opens the trust store or the key store of the properties by the Kafka client's own engine factory, which knows JKS,
 * PKCS12 and PEM, files and texts, and which combinations are wrong.
 */
final class Stores {

    private static final List<String> TRUST =
            List.of(
                    SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG,
                    SslConfigs.SSL_TRUSTSTORE_PASSWORD_CONFIG,
                    SslConfigs.SSL_TRUSTSTORE_CERTIFICATES_CONFIG);
    private static final List<String> KEY =
            List.of(
                    SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG,
                    SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG,
                    SslConfigs.SSL_KEYSTORE_KEY_CONFIG,
                    SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG,
                    SslConfigs.SSL_KEY_PASSWORD_CONFIG);

    private Stores() {}

    /** The trust store, or null when the properties name none. */
    static KeyStore trust(Map<String, ?> values) throws UnsupportedSecurityException {
        return open(values, KEY, DefaultSslEngineFactory::truststore, "truststore");
    }

    /** The key store, or null when the properties name none. Its key could be read. */
    static KeyStore key(Map<String, ?> values) throws UnsupportedSecurityException {
        return open(values, TRUST, DefaultSslEngineFactory::keystore, "keystore");
    }

    private static KeyStore open(
            Map<String, ?> values,
            List<String> hidden,
            Function<DefaultSslEngineFactory, KeyStore> store,
            String name)
            throws UnsupportedSecurityException {
        Map<String, Object> seen = new HashMap<>(values);
        // Only one store at a time, so that a failure is known to be its own.
        hidden.forEach(key -> seen.put(key, null));
        DefaultSslEngineFactory factory = new DefaultSslEngineFactory();
        try {
            factory.configure(seen);
            return store.apply(factory);
        } catch (KafkaException e) {
            throw refusal(e, name, values.get("ssl." + name + ".location"), values.get("ssl." + name + ".type"));
        } finally {
            factory.close();
        }
    }

    /** The client's own words where it judges the properties; for what a store's code throws, words of ours. */
    private static UnsupportedSecurityException refusal(KafkaException e, String name, Object file, Object type) {
        if (find(e, NoSuchFileException.class) || find(e, AccessDeniedException.class)) {
            return new UnsupportedSecurityException(
                    "property 'ssl.%s.location' is '%s', a file that this TaskManager cannot read; correct it or put the"
                            + " file there",
                    name, file);
        }
        if (find(e, UnrecoverableKeyException.class) && inLoading(e)) {
            return new UnsupportedSecurityException(
                    "property 'ssl.%s.password' does not open '%s'; correct it", name, file);
        }
        if (find(e, UnrecoverableKeyException.class)) {
            return new UnsupportedSecurityException(
                    "property 'ssl.key.password' does not open the key in '%s'; correct it", file);
        }
        if (e.getCause() == null || e instanceof ConfigException) {
            return new UnsupportedSecurityException("the Kafka client refuses 'ssl.%s.*': %s", name, e.getMessage());
        }
        return new UnsupportedSecurityException(
                "properties 'ssl.%s.*' cannot be read as type %s%s (%s); compare 'ssl.%s.type' with the store, and"
                        + " 'ssl.key.password' with its key",
                name, type, file == null ? "" : " from '" + file + "'", root(e).getClass().getSimpleName(), name);
    }

    /** FileBasedStore wraps what loading throws; what the key managers throw has no such text. */
    private static boolean inLoading(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (String.valueOf(t.getMessage()).startsWith("Failed to load SSL keystore")) {
                return true;
            }
        }
        return false;
    }

    private static boolean find(Throwable e, Class<? extends Throwable> wanted) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (wanted.isInstance(t)) {
                return true;
            }
        }
        return false;
    }

    private static Throwable root(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
