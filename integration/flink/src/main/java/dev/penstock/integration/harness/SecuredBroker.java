package dev.penstock.integration.harness;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;

/**
 * A broker that is reached by SASL_SSL with SCRAM and by mutual TLS. Its plaintext listener is for the tests
 * themselves, which may do everything; so may alice and the client certificate. Bob and carol, who has a certificate
 * too, may write topics and transactions whose names begin with {@link #BOBS} and {@link #CAROLS}.
 */
public final class SecuredBroker implements AutoCloseable {
    /** Holds what quoting and escaping could trip over; all secrets of this test bed hold the word planted. */
    public static final String USER_PASSWORD = "pl\"anted;user\\pass=wörd, 'x'";

    /** Of every store and key. */
    public static final String STORE_PASSWORD = "planted-store-password";

    /** A password that opens nothing. */
    public static final String WRONG_PASSWORD = "planted-wrong-password";

    /** The prefix of what bob may write. */
    public static final String BOBS = "bobs";

    /** The prefix of what carol may write. */
    public static final String CAROLS = "carols";

    /** What carol may write and not describe: DESCRIBE comes with WRITE, so it is denied. */
    public static final String HIDDEN = CAROLS + "-hidden";

    private static final String CAROL = "CN=carol";

    private final Path folder = Workspace.temporary("stores");
    private final BrokerProcess broker;
    private final Topics topics;

    private SecuredBroker() {
        Stores stores = new Stores(folder, STORE_PASSWORD);
        Path server = stores.key("server.p12", "PKCS12", "broker");
        stores.trust("trust.jks", "JKS", server);
        Path client = stores.key("client.p12", "PKCS12", "client", "-J-Dkeystore.pkcs12.legacy");
        Path carol = stores.key("carol.p12", "PKCS12", "carol");
        Path clients = stores.trust("clients.p12", "PKCS12", client, carol);
        stores.key("foreign.jks", "JKS", "foreign");

        Map<String, String> tls = store("keystore", server);
        Map<String, String> scram = new HashMap<>(tls);
        String module = "org.apache.kafka.common.security.scram.ScramLoginModule required;";
        scram.put("sasl.enabled.mechanisms", "SCRAM-SHA-256,SCRAM-SHA-512");
        scram.put("scram-sha-256.sasl.jaas.config", module);
        scram.put("scram-sha-512.sasl.jaas.config", module);
        Map<String, String> mutual = new HashMap<>(tls);
        mutual.putAll(store("truststore", clients));
        mutual.put("ssl.client.auth", "required");
        broker = BrokerProcess.start(BrokerRelease.underTest(),
                List.of(new BrokerListener("SCRAM", "SASL_SSL", scram), new BrokerListener("MUTUAL", "SSL", mutual)),
                Map.of("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                        "super.users", "User:ANONYMOUS;User:alice;User:CN=client"));
        topics = new Topics(broker.bootstrapServers());
        for (String user : List.of("alice", "bob")) {
            Users.add(broker.bootstrapServers(), user, USER_PASSWORD);
        }
        allowToWrite("bob", BOBS);
        allowToWrite(CAROL, CAROLS);
        Users.deny(broker.bootstrapServers(), CAROL, AclOperation.DESCRIBE, ResourceType.TOPIC, HIDDEN);
    }

    private void allowToWrite(String user, String prefix) {
        for (ResourceType type : List.of(ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)) {
            Users.allow(broker.bootstrapServers(), user, AclOperation.WRITE, type, prefix);
        }
    }

    /** Starts the broker and waits until it is ready. */
    public static SecuredBroker start() {
        return new SecuredBroker();
    }

    /** Its plaintext listener. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** Its topics; thread safe. */
    public Topics topics() {
        return topics;
    }

    /** The properties of a client of the SCRAM listener, in a JKS trust store. */
    public Map<String, String> scram(String mechanism, String user, String password) {
        Map<String, String> properties = new HashMap<>(store("truststore", folder.resolve("trust.jks")));
        properties.put("bootstrap.servers", broker.address("SCRAM"));
        properties.put("security.protocol", "SASL_SSL");
        properties.put("sasl.mechanism", mechanism);
        properties.put("sasl.jaas.config", "org.apache.kafka.common.security.scram.ScramLoginModule required username=\""
                + user + "\" password=\"" + password.replace("\\", "\\\\").replace("\"", "\\\"") + "\";");
        return properties;
    }

    /** The properties of a client of the mutual TLS listener: PEM for trust, and a legacy PKCS12 key store. */
    public Map<String, String> mutual() {
        Map<String, String> properties = new HashMap<>(store("keystore", folder.resolve("client.p12")));
        properties.put("bootstrap.servers", broker.address("MUTUAL"));
        properties.put("security.protocol", "SSL");
        properties.put("ssl.truststore.type", "PEM");
        properties.put("ssl.truststore.location", Stores.certificateOf(folder.resolve("trust.jks")).toString());
        return properties;
    }

    /** As {@link #mutual} with carol's key. */
    public Map<String, String> mutualAsCarol() {
        return mutual("carol.p12");
    }

    /** As {@link #mutual} with a key that the broker does not trust. */
    public Map<String, String> foreign() {
        return mutual("foreign.jks");
    }

    private Map<String, String> mutual(String keyStore) {
        Map<String, String> properties = mutual();
        properties.putAll(store("keystore", folder.resolve(keyStore)));
        return properties;
    }

    private static Map<String, String> store(String kind, Path file) {
        return Map.of(
                "ssl." + kind + ".type", file.toString().endsWith(".jks") ? "JKS" : "PKCS12",
                "ssl." + kind + ".location", file.toString(),
                "ssl." + kind + ".password", STORE_PASSWORD);
    }

    @Override
    public void close() {
        topics.close();
        broker.close();
        Workspace.delete(folder);
    }
}
