package dev.penstock.flink.security;

import com.google.protobuf.ByteString;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;

/** The certificate and the key that a client shows, as PEM. */
final class KeyMaterial {

    private final ByteString chain;
    private final ByteString privateKey;

    private KeyMaterial(ByteString chain, ByteString privateKey) {
        this.chain = chain;
        this.privateKey = privateKey;
    }

    /** The key store of the properties; empty when they name none. */
    static Optional<KeyMaterial> of(Map<String, ?> values) throws UnsupportedSecurityException {
        KeyStore store = Stores.key(values);
        if (store == null) {
            return Optional.empty();
        }
        char[] password = password(values);
        try {
            String alias = onlyKey(store);
            List<X509Certificate> chain = chain(store.getCertificateChain(alias));
            Key key = store.getKey(alias, password);
            byte[] encoded = key.getEncoded();
            if (encoded == null) {
                throw new UnsupportedSecurityException(
                        "the key in 'ssl.keystore.*' does not leave its device; only keys in files and texts are native");
            }
            ByteString pem = Pem.privateKey(encoded);
            Arrays.fill(encoded, (byte) 0);
            return Optional.of(
                    new KeyMaterial(Pem.limited(Pem.certificates(chain), "ssl.keystore.*"), pem));
        } catch (GeneralSecurityException e) {
            throw new UnsupportedSecurityException(
                    "property 'ssl.key.password' does not open the key of 'ssl.keystore.*'; correct it");
        } finally {
            if (password != null) {
                Arrays.fill(password, '\0');
            }
        }
    }

    /** The client's certificate and its issuers. */
    ByteString chain() {
        return chain;
    }

    /** PKCS8. */
    ByteString privateKey() {
        return privateKey;
    }

    /** DefaultSslEngineFactory: a key without a password of its own has that of its store. */
    private static char[] password(Map<String, ?> values) {
        Password key = (Password) values.get(SslConfigs.SSL_KEY_PASSWORD_CONFIG);
        if (key == null) {
            key = (Password) values.get(SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG);
        }
        return key == null ? null : key.value().toCharArray();
    }

    /** Java chooses among several by what the broker asks for; the daemon has one. */
    private static String onlyKey(KeyStore store) throws GeneralSecurityException, UnsupportedSecurityException {
        List<String> keys = new ArrayList<>();
        for (String alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                keys.add(alias);
            }
        }
        if (keys.size() != 1) {
            throw new UnsupportedSecurityException(
                    "the store of 'ssl.keystore.*' holds %d keys; keep exactly the one of this client", keys.size());
        }
        return keys.get(0);
    }

    private static List<X509Certificate> chain(Certificate[] certificates) throws UnsupportedSecurityException {
        List<X509Certificate> chain = new ArrayList<>();
        for (Certificate certificate : certificates) {
            chain.add((X509Certificate) certificate);
        }
        X509Certificate own = chain.get(0);
        try {
            own.checkValidity();
        } catch (CertificateExpiredException | CertificateNotYetValidException e) {
            throw new UnsupportedSecurityException(
                    "the client certificate in 'ssl.keystore.*' (%s) is valid from %tF to %tF only; renew it",
                    own.getSubjectX500Principal(), own.getNotBefore(), own.getNotAfter());
        }
        return chain;
    }

    /** Shows no secret. */
    @Override
    public String toString() {
        return "KeyMaterial";
    }
}
