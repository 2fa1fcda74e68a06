package dev.penstock.flink.security;

import com.google.protobuf.ByteString;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Whom a client trusts, as PEM: asked of a trust manager, which knows what counts as trusted in a store. */
final class TrustMaterial {

    private TrustMaterial() {}

    /** The trust store of the properties, else that of the Java process. */
    static ByteString of(Map<String, ?> values) throws UnsupportedSecurityException {
        KeyStore store = Stores.trust(values);
        ByteString trusted = trusted(store);
        if (trusted.isEmpty()) {
            throw new UnsupportedSecurityException(
                    "%s holds no trusted certificate; import the CA of the brokers",
                    store == null ? "the trust store of the Java process" : "the store of 'ssl.truststore.*'");
        }
        return Pem.limited(trusted, "ssl.truststore.*");
    }

    /** The trust store of the Java process; empty when it has none. */
    static ByteString ofProcess() {
        return trusted(null);
    }

    private static ByteString trusted(KeyStore store) {
        try {
            TrustManagerFactory factory =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            List<X509Certificate> all = new ArrayList<>();
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509TrustManager x509) {
                    all.addAll(List.of(x509.getAcceptedIssuers()));
                }
            }
            return Pem.certificates(all);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("The trust manager of this Java cannot read a store that Java has opened.", e);
        }
    }
}
