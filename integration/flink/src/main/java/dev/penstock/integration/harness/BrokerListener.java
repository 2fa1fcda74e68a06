package dev.penstock.integration.harness;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A way into a broker, on a free port of its own.
 *
 * @param name in capital letters
 * @param protocol SSL, SASL_PLAINTEXT or SASL_SSL
 * @param settings server properties without the prefix of the listener
 */
public record BrokerListener(String name, String protocol, Map<String, String> settings) {

    /** The settings as server properties. */
    Map<String, String> prefixed() {
        String prefix = "listener.name." + name.toLowerCase(Locale.ROOT) + ".";
        return settings.entrySet().stream().collect(Collectors.toMap(e -> prefix + e.getKey(), Map.Entry::getValue));
    }
}
