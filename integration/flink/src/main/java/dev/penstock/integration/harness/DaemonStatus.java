package dev.penstock.integration.harness;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/**
 * One answer of the daemon's DiagnosticsService.GetStatus in its JSON form. Protobuf's JSON leaves out what is zero and
 * writes 64-bit numbers as text, so everything is read through here.
 */
public record DaemonStatus(JsonNode json) {

    /** Running total of CounterStatus, by the field's name in diagnostics.proto. */
    public long counter(String protoField) {
        return number(json.path("counters"), protoField);
    }

    /** A field of MemoryStatus, by its name in diagnostics.proto. */
    public long memory(String protoField) {
        return number(json.path("memory"), protoField);
    }

    public int sessions() {
        return json.path("sessions").size();
    }

    public int writers() {
        return json.path("writers").size();
    }

    public long producers() {
        return number(json, "producers");
    }

    /** Everything that belongs to a job, in words; empty when nothing is left behind. */
    public List<String> leftovers() {
        List<String> left = new ArrayList<>();
        json.path("sessions").forEach(session -> left.add("session " + session));
        json.path("writers").forEach(writer -> left.add("writer " + writer));
        if (producers() != 0) {
            left.add(producers() + " producers");
        }
        if (memory("leased_bytes") != 0) {
            left.add(memory("leased_bytes") + " leased bytes");
        }
        return left;
    }

    private static long number(JsonNode parent, String protoField) {
        JsonNode node = parent.path(protoField);
        if (node.isMissingNode()) {
            node = parent.path(camelCase(protoField));
        }
        return node.asLong();
    }

    private static String camelCase(String name) {
        StringBuilder text = new StringBuilder();
        for (String word : name.split("_")) {
            text.append(text.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return text.toString();
    }
}
