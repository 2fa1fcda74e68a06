package dev.penstock.integration.harness;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/**
 * What the parts of a bed have to say when something did not happen in time, so that a failure that nobody can repeat
 * explains itself. Short things first: whoever shows the message may cut its end off.
 */
public final class Diagnosis {
    private final Map<String, Callable<String>> parts = new LinkedHashMap<>();
    private final List<Supplier<Diagnosis>> others = new ArrayList<>();

    /** Adds a part under a title; it is asked only when it is needed. */
    public Diagnosis with(String title, Callable<String> part) {
        parts.put(title, part);
        return this;
    }

    /** Adds the parts of another diagnosis, which is made only when it is needed. */
    public Diagnosis with(Supplier<Diagnosis> other) {
        others.add(other);
        return this;
    }

    /** Asks all parts now, own ones first; each starts a new line. A part that fails says so in its place. */
    public String text() {
        StringBuilder text = new StringBuilder();
        parts.forEach((title, part) -> text.append("\n--- ").append(title).append(" ---\n").append(ask(part).strip()));
        others.forEach(other -> text.append(other.get().text()));
        return text.toString();
    }

    private static String ask(Callable<String> part) {
        try {
            return part.call();
        } catch (Exception e) {
            return "(" + e + ")";
        }
    }

    /** The answer of /jobs/:id/exceptions without stack traces: when, which task, and the chain of causes. */
    static String causes(JsonNode exceptions) {
        StringBuilder text = new StringBuilder();
        for (JsonNode entry : exceptions.path("exceptionHistory").path("entries")) {
            text.append(Instant.ofEpochMilli(entry.path("timestamp").asLong())).append(' ')
                    .append(entry.path("taskName").asText()).append('\n');
            entry.path("stacktrace").asText().lines().filter(line -> !line.startsWith("\t"))
                    .forEach(line -> text.append("    ").append(line).append('\n'));
        }
        return text.isEmpty() ? "none" : text.toString();
    }
}
