package dev.penstock.session;

import com.google.protobuf.ByteString;
import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.Hello;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Properties;

/** What this process says about itself in Hello. */
final class ClientIdentity {

    /** Oldest and newest version of the session protocol that this client speaks. */
    static final int PROTOCOL_MIN = 1;

    static final int PROTOCOL_MAX = 1;

    private static final String PROCESS_ID_PROPERTY = "dev.penstock.process-id";
    private static final int PROCESS_ID_BYTES = 16;

    private ClientIdentity() {}

    /** Builds the Hello of a session with these settings. */
    static Hello hello(SessionSettings settings) throws DaemonException {
        return Hello.newBuilder()
                .setProtocolMin(PROTOCOL_MIN)
                .setProtocolMax(PROTOCOL_MAX)
                .setLayoutHash(Layout.hash())
                .setClientVersion(clientVersion())
                .setFlinkVersion(settings.flinkVersion())
                .setJacksonVersion(settings.jacksonVersion())
                .setJvmFeatureVersion(Runtime.version().feature())
                .addAllFloatProbe(FloatProbe.spellings())
                .setBudgetBytes(settings.budgetBytes())
                .setClientName(settings.clientName())
                .setPid(ProcessHandle.current().pid())
                .setProcessId(processId())
                .build();
    }

    /**
     * The random id of this JVM. It lives in a system property because each Flink job may load this class anew, and all
     * of them must share one account.
     */
    static ByteString processId() {
        Object hex = System.getProperties().computeIfAbsent(PROCESS_ID_PROPERTY, key -> {
            byte[] random = new byte[PROCESS_ID_BYTES];
            new SecureRandom().nextBytes(random);
            return HexFormat.of().formatHex(random);
        });
        return ByteString.copyFrom(HexFormat.of().parseHex((String) hex));
    }

    /** Version of this client as Maven built it. */
    static String clientVersion() throws DaemonException {
        Properties properties = new Properties();
        try (InputStream in = ClientIdentity.class.getResourceAsStream("client.properties")) {
            if (in == null) {
                throw new IOException("not in the jar");
            }
            properties.load(in);
        } catch (IOException e) {
            throw FloatProbe.brokenJar("client.properties", e);
        }
        return properties.getProperty("version");
    }
}
