package dev.penstock.flink.security;

import com.google.protobuf.ByteString;
import dev.penstock.proto.v1.Sasl;
import dev.penstock.proto.v1.UserPassword;
import java.util.Map;
import java.util.Set;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.security.JaasContext;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule;
import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.apache.kafka.common.security.scram.ScramLoginModule;

/** What {@code sasl.jaas.config} says, read by the Kafka client's own parser: quotes and escapes are its business. */
final class SaslLogin {

    private static final Set<String> MECHANISMS =
            Set.of("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", OAuthBearerLoginModule.OAUTHBEARER_MECHANISM);
    private static final String JAAS = "property 'sasl.jaas.config'";

    private final String mechanism;
    private final String user;
    private final String password;
    private final OAuthLogin oauth;

    private SaslLogin(String mechanism, String user, String password, OAuthLogin oauth) {
        this.mechanism = mechanism;
        this.user = user;
        this.password = password;
        this.oauth = oauth;
    }

    /** The part of the check that needs no JAAS text. */
    static void checkMechanism(Map<String, ?> values) throws UnsupportedSecurityException {
        String mechanism = mechanism(values);
        if (!MECHANISMS.contains(mechanism)) {
            throw new UnsupportedSecurityException(
                    "property 'sasl.mechanism' is '%s'; native are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER",
                    mechanism);
        }
        if (values.get(SaslConfigs.SASL_JAAS_CONFIG) == null) {
            throw new UnsupportedSecurityException(
                    "%s is not set; a JAAS file of the process is not native, write its content there", JAAS);
        }
        if (!isOAuth(mechanism)) {
            OAuthLogin.refuseProperties(values, mechanism);
        }
    }

    /** Reads the login; values must have passed {@link #checkMechanism} or are checked here. */
    static SaslLogin of(Map<String, ?> values) throws UnsupportedSecurityException {
        checkMechanism(values);
        String mechanism = mechanism(values);
        AppConfigurationEntry entry = parse(values);
        Class<?> wanted = module(mechanism);
        if (!entry.getLoginModuleName().equals(wanted.getName())) {
            throw new UnsupportedSecurityException(
                    "%s names another login module than %s, the one of 'sasl.mechanism' %s",
                    JAAS, wanted.getName(), mechanism);
        }
        if (isOAuth(mechanism)) {
            return new SaslLogin(mechanism, null, null, OAuthLogin.of(values, entry.getOptions()));
        }
        refuseOthers(entry.getOptions().keySet(), mechanism);
        return new SaslLogin(
                mechanism, required(entry, "username"), required(entry, "password"), null);
    }

    Sasl toProto() {
        Sasl.Builder sasl = Sasl.newBuilder().setMechanism(mechanism);
        if (oauth != null) {
            return sasl.setClientCredentials(oauth.toProto()).build();
        }
        return sasl.setUser(
                        UserPassword.newBuilder().setName(user).setPassword(ByteString.copyFromUtf8(password)))
                .build();
    }

    private static AppConfigurationEntry parse(Map<String, ?> values) throws UnsupportedSecurityException {
        try {
            return JaasContext.loadClientContext(values).configurationEntries().get(0);
        } catch (IllegalArgumentException | KafkaException e) {
            // Neither text nor cause: a text that cannot be parsed puts pieces of the password where names should be.
            throw new UnsupportedSecurityException(
                    "%s cannot be read by the Kafka client; write 'module required key=\"value\" key=\"value\";' and"
                            + " put a backslash before each quote and backslash in a value",
                    JAAS);
        }
    }

    private static Class<?> module(String mechanism) {
        return switch (mechanism) {
            case "PLAIN" -> PlainLoginModule.class;
            case "SCRAM-SHA-256", "SCRAM-SHA-512" -> ScramLoginModule.class;
            default -> OAuthBearerLoginModule.class;
        };
    }

    private static void refuseOthers(Set<String> options, String mechanism) throws UnsupportedSecurityException {
        if (options.contains("tokenauth")) {
            throw new UnsupportedSecurityException(
                    "%s sets 'tokenauth'; delegation tokens are not native, use a user and a password", JAAS);
        }
        if (!Set.of("username", "password").containsAll(options)) {
            throw new UnsupportedSecurityException(
                    "%s has options beside username and password, which the login module of %s does not know; remove"
                            + " them",
                    JAAS, mechanism);
        }
    }

    private static String required(AppConfigurationEntry entry, String option) throws UnsupportedSecurityException {
        Object value = entry.getOptions().get(option);
        if (value == null || value.toString().isEmpty()) {
            throw new UnsupportedSecurityException("%s has no %s; add it", JAAS, option);
        }
        return value.toString();
    }

    private static String mechanism(Map<String, ?> values) {
        return String.valueOf(values.get(SaslConfigs.SASL_MECHANISM));
    }

    private static boolean isOAuth(String mechanism) {
        return mechanism.equals(OAuthBearerLoginModule.OAUTHBEARER_MECHANISM);
    }

    /** Shows no secret. */
    @Override
    public String toString() {
        return "SaslLogin(" + mechanism + ")";
    }
}
