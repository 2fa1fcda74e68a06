package dev.penstock.flink.security;

import com.google.protobuf.ByteString;
import dev.penstock.proto.v1.ClientCredentials;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler;

/**
 * Client credentials of OAUTHBEARER in both styles: properties of kafka-clients 4.1 and newer, which win, or options of
 * the JAAS text (ClientCredentialsJwtRetriever).
 */
final class OAuthLogin {

    private static final String HANDLER = SaslConfigs.SASL_LOGIN_CALLBACK_HANDLER_CLASS;
    private static final String ENDPOINT = SaslConfigs.SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL;
    // Properties that kafka-clients 3.9, of Flink 2.0, has no constants for.
    private static final String SCOPE = "sasl.oauthbearer.scope";
    private static final String CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id";
    private static final String CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret";
    /** Options of this name are SASL extensions (OAuthBearerLoginCallbackHandler). */
    private static final String EXTENSION = "extension_";

    private final ClientCredentials.Builder message = ClientCredentials.newBuilder();
    private final Map<String, ?> values;
    private final Map<String, ?> options;

    private OAuthLogin(Map<String, ?> values, Map<String, ?> options) {
        this.values = values;
        this.options = options;
    }

    /** The properties that only mean something to OAUTHBEARER. */
    static void refuseProperties(Map<String, ?> values, String mechanism) throws UnsupportedSecurityException {
        for (String key : new String[] {HANDLER, ENDPOINT, SCOPE, CLIENT_ID, CLIENT_SECRET}) {
            if (values.get(key) != null) {
                throw new UnsupportedSecurityException(
                        "property '%s' is not native with 'sasl.mechanism' %s; remove it", key, mechanism);
            }
        }
    }

    static OAuthLogin of(Map<String, ?> values, Map<String, ?> options) throws UnsupportedSecurityException {
        OAuthLogin login = new OAuthLogin(values, options);
        login.checkHandler();
        login.checkOptions();
        login.message
                .setTokenEndpoint(login.endpoint())
                .setClientId(login.required(CLIENT_ID, "clientId"))
                .setClientSecret(ByteString.copyFromUtf8(login.required(CLIENT_SECRET, "clientSecret")))
                .setScope(login.value(SCOPE, "scope"))
                .putAllExtensions(login.extensions());
        return login;
    }

    /** Reads the trust store of the Java process when the endpoint needs one. */
    ClientCredentials toProto() {
        if (message.getTokenEndpoint().toLowerCase(Locale.ROOT).startsWith("https:")) {
            message.setCertificateAuthorities(TrustMaterial.ofProcess());
        }
        return message.build();
    }

    private void checkHandler() throws UnsupportedSecurityException {
        Object handler = values.get(HANDLER);
        if (handler == null) {
            throw new UnsupportedSecurityException(
                    "property '%s' is not set; unsecured tokens are not native, set %s",
                    HANDLER, OAuthBearerLoginCallbackHandler.class.getName());
        }
        if (handler != OAuthBearerLoginCallbackHandler.class) {
            throw new UnsupportedSecurityException(
                    "property '%s' is %s; only %s is native",
                    HANDLER, ((Class<?>) handler).getName(), OAuthBearerLoginCallbackHandler.class.getName());
        }
    }

    private void checkOptions() throws UnsupportedSecurityException {
        for (String option : options.keySet()) {
            boolean known =
                    option.equals("clientId")
                            || option.equals("clientSecret")
                            || option.equals("scope")
                            || option.startsWith(EXTENSION);
            if (!known) {
                throw new UnsupportedSecurityException(
                        "property 'sasl.jaas.config' has options beside clientId, clientSecret, scope and %s*, which are"
                                + " not native; remove them",
                        EXTENSION);
            }
        }
    }

    private String endpoint() throws UnsupportedSecurityException {
        Object endpoint = values.get(ENDPOINT);
        try {
            URI uri = URI.create(String.valueOf(endpoint).trim());
            String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
            if (uri.getHost() != null && (scheme.equals("http") || scheme.equals("https"))) {
                return uri.toString();
            }
        } catch (IllegalArgumentException e) {
            // Refused below like every other text that is no such URL.
        }
        throw new UnsupportedSecurityException(
                "property '%s' is '%s'; only a URL that begins with http or https is native", ENDPOINT, endpoint);
    }

    private String required(String property, String option) throws UnsupportedSecurityException {
        String value = value(property, option);
        if (value.isEmpty()) {
            throw new UnsupportedSecurityException(
                    "property '%s' is not set, nor is %s in 'sasl.jaas.config'; set the property", property, option);
        }
        return value;
    }

    /** Trimmed, as the client does; empty when there is none. */
    private String value(String property, String option) {
        Object value = values.get(property);
        if (value == null) {
            value = options.get(option);
        }
        String text = value instanceof Password secret ? secret.value() : String.valueOf(value == null ? "" : value);
        return text.trim();
    }

    private Map<String, String> extensions() {
        Map<String, String> extensions = new TreeMap<>();
        options.forEach(
                (key, value) -> {
                    if (key.startsWith(EXTENSION)) {
                        extensions.put(key.substring(EXTENSION.length()), value.toString());
                    }
                });
        return extensions;
    }

    /** Shows no secret. */
    @Override
    public String toString() {
        return "OAuthLogin(" + message.getTokenEndpoint() + ")";
    }
}
