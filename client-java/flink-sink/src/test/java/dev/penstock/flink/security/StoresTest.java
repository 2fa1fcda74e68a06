package dev.penstock.flink.security;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.penstock.proto.v1.Tls;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Collection;
import java.util.Properties;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every kind of store gives the same PEM, and what cannot be read is told by its property. */
class StoresTest {

    private static final String PASSWORD = "planted-store";
    private static final String KEY_PASSWORD = "planted-key";

    @TempDir private static Path folder;

    private static Path key;
    private static Path trust;

    @BeforeAll
    static void makeStores() throws Exception {
        Keytool keytool = new Keytool(folder);
        key = keytool.keyStore("key.p12", "PKCS12", PASSWORD);
        trust = keytool.trustStore("trust.p12", "PKCS12", key, PASSWORD);
        Path old = keytool.keyStore("key-rc2.p12", "PKCS12", PASSWORD, "-J-Dkeystore.pkcs12.legacy");
        keytool.trustStore("trust-rc2.p12", "PKCS12", old, PASSWORD, "-J-Dkeystore.pkcs12.legacy");
        Path jks = keytool.keyStore("key.jks", "JKS", PASSWORD, "-keypass", KEY_PASSWORD);
        keytool.trustStore("trust.jks", "JKS", jks, PASSWORD);
        keytool.keyStore("expired.p12", "PKCS12", PASSWORD, "-startdate", "-3d", "-validity", "1");
        keytool.keyStore("two.p12", "PKCS12", PASSWORD);
        keytool.keyStore("two.p12", "PKCS12", PASSWORD, "-alias", "other");
    }

    @ParameterizedTest
    @CsvSource({"PKCS12, .p12,", "PKCS12, -rc2.p12,", "JKS, .jks, planted-key"})
    void aStoreBecomesPem(String type, String suffix, String keyPassword) throws Exception {
        Path file = folder.resolve("key" + suffix);
        Properties properties = ssl();
        trust(properties, type, folder.resolve("trust" + suffix), PASSWORD);
        key(properties, type, file, PASSWORD);
        if (keyPassword != null) {
            properties.put("ssl.key.password", keyPassword);
        }
        requireMaterial(KafkaSecurity.resolve(properties).getTls(), type, file, keyPassword);
    }

    @Test
    void pemFilesAndTextsAreReadAsTheyAre() throws Exception {
        String chain = certificatePem();
        String privateKey = pem("PRIVATE KEY", key().getEncoded());
        Path keyFile = Files.writeString(folder.resolve("key.pem"), privateKey + chain);
        Path trustFile = Files.writeString(folder.resolve("trust.pem"), chain);
        Properties files = ssl();
        files.put("ssl.truststore.type", "PEM");
        files.put("ssl.truststore.location", trustFile.toString());
        files.put("ssl.keystore.type", "PEM");
        files.put("ssl.keystore.location", keyFile.toString());
        requireMaterial(KafkaSecurity.resolve(files).getTls(), "PKCS12", key, null);

        Properties texts = ssl();
        texts.put("ssl.truststore.type", "PEM");
        texts.put("ssl.truststore.certificates", chain);
        texts.put("ssl.keystore.type", "PEM");
        texts.put("ssl.keystore.certificate.chain", chain);
        texts.put("ssl.keystore.key", pem("ENCRYPTED PRIVATE KEY", encrypted()));
        texts.put("ssl.key.password", KEY_PASSWORD);
        requireMaterial(KafkaSecurity.resolve(texts).getTls(), "PKCS12", key, null);
    }

    @Test
    void withoutATrustStoreTheOneOfJavaIsSent() throws Exception {
        Tls tls = KafkaSecurity.resolve(ssl()).getTls();
        assertTrue(certificates(tls.getCertificateAuthorities()).size() > 10);
        assertTrue(tls.getCertificateChain().isEmpty());
        assertTrue(tls.getPrivateKey().isEmpty());
        assertFalse(tls.getSkipEndpointIdentification());
    }

    @Test
    void anEmptyEndpointAlgorithmSkipsTheComparison() throws Exception {
        Properties properties = ssl();
        properties.put("ssl.endpoint.identification.algorithm", "");
        assertTrue(KafkaSecurity.resolve(properties).getTls().getSkipEndpointIdentification());
    }

    @Test
    void whatCannotBeReadIsToldByItsProperty() throws Exception {
        requireRefusal("ssl.truststore.password", p -> trust(p, "PKCS12", trust, "planted-wrong"));
        requireRefusal("ssl.truststore.password", p -> trust(p, "JKS", folder.resolve("trust.jks"), "planted-wrong"));
        requireRefusal("ssl.truststore.location", p -> trust(p, "PKCS12", folder.resolve("absent"), PASSWORD));
        requireRefusal("ssl.truststore.type", p -> trust(p, "NONE", trust, PASSWORD));
        requireRefusal("no trusted certificate", p -> trust(p, "PKCS12", empty(), PASSWORD));
        requireRefusal("ssl.truststore", p -> p.put("ssl.truststore.password", PASSWORD));
        requireRefusal("ssl.keystore.password", p -> key(p, "PKCS12", key, "planted-wrong"));
        requireRefusal("ssl.keystore", p -> p.put("ssl.keystore.location", key.toString()));
        requireRefusal("ssl.key.password", p -> key(p, "JKS", folder.resolve("key.jks"), PASSWORD));
        requireRefusal("renew it", p -> key(p, "PKCS12", folder.resolve("expired.p12"), PASSWORD));
        requireRefusal("2 keys", p -> key(p, "PKCS12", folder.resolve("two.p12"), PASSWORD));
        requireRefusal("ssl.key", p -> {
            p.put("ssl.keystore.type", "PEM");
            p.put("ssl.keystore.certificate.chain", certificatePem());
            p.put("ssl.keystore.key", pem("ENCRYPTED PRIVATE KEY", encrypted()));
            p.put("ssl.key.password", "planted-wrong");
        });
        requireRefusal("ssl.enabled.protocols", p -> p.put("ssl.enabled.protocols", "TLSv1.2"));
        requireRefusal("ssl.endpoint.identification.algorithm",
                p -> p.put("ssl.endpoint.identification.algorithm", "LDAPS"));
    }

    /** Changes properties; may fail. */
    private interface Change {
        void apply(Properties properties) throws Exception;
    }

    private static void requireRefusal(String expected, Change change) throws Exception {
        Properties properties = ssl();
        change.apply(properties);
        UnsupportedSecurityException e =
                assertThrows(UnsupportedSecurityException.class, () -> KafkaSecurity.resolve(properties), expected);
        assertTrue(e.getMessage().contains(expected), expected + " in: " + e.getMessage());
        assertFalse(e.getMessage().contains("planted"), e.getMessage());
        assertEquals(null, e.getCause(), "a cause may tell what the message hides");
    }

    private static Properties ssl() {
        Properties properties = SaslLoginTest.producer();
        properties.put("security.protocol", "SSL");
        return properties;
    }

    private static void trust(Properties properties, String type, Path file, String password) {
        properties.put("ssl.truststore.type", type);
        properties.put("ssl.truststore.location", file.toString());
        properties.put("ssl.truststore.password", password);
    }

    private static void key(Properties properties, String type, Path file, String password) {
        properties.put("ssl.keystore.type", type);
        properties.put("ssl.keystore.location", file.toString());
        properties.put("ssl.keystore.password", password);
    }

    private static void requireMaterial(Tls tls, String type, Path keyFile, String keyPassword) throws Exception {
        KeyStore store = KeyStore.getInstance(type);
        store.load(Files.newInputStream(keyFile), PASSWORD.toCharArray());
        Certificate own = store.getCertificate("me");
        assertEquals(own, certificates(tls.getCertificateChain()).iterator().next());
        assertEquals(own, certificates(tls.getCertificateAuthorities()).iterator().next());
        byte[] expected = store.getKey("me", (keyPassword == null ? PASSWORD : keyPassword).toCharArray()).getEncoded();
        assertArrayEquals(expected, decode(tls.getPrivateKey().toStringUtf8()));
    }

    private static Collection<? extends Certificate> certificates(ByteString pem) throws Exception {
        return CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(pem.toByteArray()));
    }

    private static byte[] decode(String pem) {
        String body = pem.replaceAll("-----[A-Z ]+-----", "");
        return Base64.getMimeDecoder().decode(body.getBytes(StandardCharsets.US_ASCII));
    }

    private static String pem(String label, byte[] content) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(content)
                + "\n-----END " + label + "-----\n";
    }

    private static String certificatePem() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(Files.newInputStream(key), PASSWORD.toCharArray());
        return pem("CERTIFICATE", store.getCertificate("me").getEncoded());
    }

    private static java.security.Key key() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(Files.newInputStream(key), PASSWORD.toCharArray());
        return store.getKey("me", PASSWORD.toCharArray());
    }

    private static byte[] encrypted() throws Exception {
        String algorithm = "PBEWithSHA1AndDESede";
        Cipher cipher = Cipher.getInstance(algorithm);
        cipher.init(
                Cipher.ENCRYPT_MODE,
                SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(KEY_PASSWORD.toCharArray())));
        byte[] content = cipher.doFinal(key().getEncoded());
        AlgorithmParameters parameters = cipher.getParameters();
        return new EncryptedPrivateKeyInfo(parameters, content).getEncoded();
    }

    private static Path empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        Path file = folder.resolve("empty.p12");
        try (var out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
        return file;
    }
}
