package dev.penstock.flink.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.ClientCredentials;
import dev.penstock.proto.v1.Sasl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.provider.FileConfigProvider;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule;
import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.apache.kafka.common.security.scram.ScramLoginModule;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JAAS texts mean what they mean to the Kafka client, and what is not translated is refused without a secret. */
class SaslLoginTest {

    private static final String PLAIN = PlainLoginModule.class.getName();
    private static final String SCRAM = ScramLoginModule.class.getName();
    private static final String OAUTH = OAuthBearerLoginModule.class.getName();

    /** kafka-clients 3.9, of the connector for Flink 2.0, takes client credentials from the text alone, and so do we. */
    private static final boolean SCOPE_KNOWN = ProducerConfig.configNames().contains("sasl.oauthbearer.scope");

    @TempDir private Path folder;

    /** What every producer of a sink has. */
    static Properties producer() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", "h:1");
        properties.put("key.serializer", ByteArraySerializer.class.getName());
        properties.put("value.serializer", ByteArraySerializer.class.getName());
        return properties;
    }

    @Test
    void plaintextIsNoSecurity() throws Exception {
        assertNull(KafkaSecurity.resolve(producer()));
        Properties properties = producer();
        properties.put("security.protocol", "plaintext");
        assertNull(KafkaSecurity.resolve(properties));
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "a\"b", "a;b", "a\\b", "a=b", "a'b", " a b ", "wörd€", "a,b#c//d/*e*/", "${x:y}"})
    void passwordsOfEveryKindArriveAsTheyAre(String password) throws Exception {
        String quoted = password.replace("\\", "\\\\").replace("\"", "\\\"");
        for (String mechanism : new String[] {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}) {
            String module = mechanism.equals("PLAIN") ? PLAIN : SCRAM;
            Sasl sasl =
                    resolve(mechanism, module + " required username=\"me\" password=\"" + quoted + "\";").getSasl();
            assertEquals(mechanism, sasl.getMechanism());
            assertEquals("me", sasl.getUser().getName());
            assertEquals(password, sasl.getUser().getPassword().toStringUtf8());
            assertFalse(sasl.hasClientCredentials());
        }
    }

    @Test
    void theProtocolDecidesAboutEncryption() throws Exception {
        String jaas = PLAIN + " required username='me' password='x';";
        assertFalse(resolve("PLAIN", jaas).hasTls());
        assertTrue(resolve("PLAIN", jaas, "security.protocol", "SASL_SSL").hasTls());
    }

    @Test
    void clientCredentialsComeFromPropertiesOrFromTheText() throws Exception {
        String handler = OAuthBearerLoginCallbackHandler.class.getName();
        ClientCredentials old =
                resolve(
                                "OAUTHBEARER",
                                OAUTH + " required clientId=\"me\" clientSecret=\" s;\\\"x \" scope=\"a b\""
                                        + " extension_traceId=\"7\";",
                                "sasl.login.callback.handler.class", handler,
                                "sasl.oauthbearer.token.endpoint.url", "http://h/token")
                        .getSasl()
                        .getClientCredentials();
        assertEquals("http://h/token", old.getTokenEndpoint());
        assertEquals("me", old.getClientId());
        assertEquals("s;\"x", old.getClientSecret().toStringUtf8());
        assertEquals("a b", old.getScope());
        assertEquals(Map.of("traceId", "7"), old.getExtensionsMap());
        assertTrue(old.getCertificateAuthorities().isEmpty());

        ClientCredentials now =
                resolve(
                                "OAUTHBEARER",
                                OAUTH + " required clientId=\"old\" clientSecret=\"old\";",
                                "sasl.login.callback.handler.class", handler,
                                "sasl.oauthbearer.token.endpoint.url", "https://h/token",
                                "sasl.oauthbearer.client.credentials.client.id", "me",
                                "sasl.oauthbearer.client.credentials.client.secret", "s",
                                "sasl.oauthbearer.scope", "a")
                        .getSasl()
                        .getClientCredentials();
        assertEquals(SCOPE_KNOWN ? "me" : "old", now.getClientId());
        assertEquals(SCOPE_KNOWN ? "s" : "old", now.getClientSecret().toStringUtf8());
        assertEquals(SCOPE_KNOWN ? "a" : "", now.getScope());
        assertFalse(now.getCertificateAuthorities().isEmpty());
    }

    @Test
    void placeholdersAreResolvedByTheClientsProviders() throws Exception {
        Path secrets = Files.writeString(folder.resolve("secrets.properties"), "password=planted-in-file\n");
        String jaas = PLAIN + " required username=\"me\" password=\"${file:" + secrets + ":password}\";";
        Sasl sasl =
                resolve(
                                "PLAIN", jaas,
                                "config.providers", "file",
                                "config.providers.file.class", FileConfigProvider.class.getName())
                        .getSasl();
        assertEquals("planted-in-file", sasl.getUser().getPassword().toStringUtf8());

        Files.delete(secrets);
        requireRefusal(
                "config.providers", "PLAIN", jaas,
                "config.providers", "file",
                "config.providers.file.class", FileConfigProvider.class.getName());
    }

    @Test
    void whatIsNotTranslatedIsRefused() {
        String user = " required username=\"me\" password=\"planted\"";
        requireRefusal("sasl.mechanism", "GSSAPI", "com.sun.security.auth.module.Krb5LoginModule required;");
        requireRefusal("sasl.jaas.config", "PLAIN", null);
        requireRefusal(PLAIN, "PLAIN", "my.LoginModule required planted=\"planted\";");
        requireRefusal(SCRAM, "SCRAM-SHA-256", PLAIN + user + ";");
        requireRefusal("tokenauth", "SCRAM-SHA-256", SCRAM + user + " tokenauth=\"true\";");
        requireRefusal("options beside", "PLAIN", PLAIN + user + " planted=\"planted\";");
        requireRefusal("no username", "PLAIN", PLAIN + " required password=\"planted\";");
        requireRefusal("no password", "PLAIN", PLAIN + " required username=\"me\";");
        requireRefusal("cannot be read", "PLAIN", PLAIN + " required username=\"me\" password=pl;anted \"");
        requireRefusal("cannot be read", "PLAIN", PLAIN + user);
        requireRefusal("cannot be read", "PLAIN", PLAIN + user + ";" + PLAIN + user + ";");
        if (SCOPE_KNOWN) {
            requireRefusal("sasl.oauthbearer.scope", "PLAIN", PLAIN + user + ";", "sasl.oauthbearer.scope", "x");
        }
        String handler = "sasl.login.callback.handler.class";
        String ours = OAuthBearerLoginCallbackHandler.class.getName();
        String endpoint = "sasl.oauthbearer.token.endpoint.url";
        String client = OAUTH + " required clientId=\"me\" clientSecret=\"planted\"";
        requireRefusal("unsecured", "OAUTHBEARER", OAUTH + " required unsecuredLoginStringClaim_sub=\"planted\";");
        requireRefusal(ours, "OAUTHBEARER", client + ";", handler, PlainHandler.class.getName(), endpoint, "http://h");
        requireRefusal(endpoint, "OAUTHBEARER", client + ";", handler, ours);
        requireRefusal(endpoint, "OAUTHBEARER", client + ";", handler, ours, endpoint, "file:///token");
        requireRefusal("options beside", "OAUTHBEARER", client + " ssl.truststore.password=\"planted\";",
                handler, ours, endpoint, "http://h");
        requireRefusal("client.secret", "OAUTHBEARER", OAUTH + " required clientId=\"me\";",
                handler, ours, endpoint, "http://h");
    }

    @Test
    void nothingPrintsASecret() throws Exception {
        Map<String, ?> values =
                new ProducerConfig(
                                properties("PLAIN", PLAIN + " required username=\"me\" password=\"planted\";"))
                        .values();
        assertEquals("SaslLogin(PLAIN)", SaslLogin.of(values).toString());
    }

    /** A handler of a user's own. */
    public static final class PlainHandler extends OAuthBearerLoginCallbackHandler {}

    private static Properties properties(String mechanism, String jaas, String... more) {
        Properties properties = producer();
        properties.put("security.protocol", "SASL_PLAINTEXT");
        properties.put("sasl.mechanism", mechanism);
        if (jaas != null) {
            properties.put("sasl.jaas.config", jaas);
        }
        for (int i = 0; i < more.length; i += 2) {
            properties.put(more[i], more[i + 1]);
        }
        return properties;
    }

    private static dev.penstock.proto.v1.Security resolve(String mechanism, String jaas, String... more)
            throws UnsupportedSecurityException {
        return KafkaSecurity.resolve(properties(mechanism, jaas, more));
    }

    private static void requireRefusal(String expected, String mechanism, String jaas, String... more) {
        UnsupportedSecurityException e =
                assertThrows(
                        UnsupportedSecurityException.class, () -> resolve(mechanism, jaas, more), expected);
        assertTrue(e.getMessage().contains(expected), expected + " in: " + e.getMessage());
        assertFalse(e.getMessage().contains("planted"), e.getMessage());
        assertNull(e.getCause(), "a cause may tell what the message hides");
    }
}
