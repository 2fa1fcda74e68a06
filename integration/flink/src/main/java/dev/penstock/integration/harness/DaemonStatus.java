package dev.penstock.integration.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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

    /** A field of SpillStatus, by its name in diagnostics.proto. */
    public long spill(String protoField) {
        return number(json.path("spill"), protoField);
    }

    /** The identity of this life of the daemon, in hexadecimal as in the names of its segments. */
    public String arenaId() {
        return Long.toHexString(Long.parseUnsignedLong(text(json, "arena_id")));
    }

    public int sessions() {
        return json.path("sessions").size();
    }

    /** Sum over all sessions of a count of slots, by its name in diagnostics.proto. */
    public long slots(String protoField) {
        long sum = 0;
        for (JsonNode session : json.path("sessions")) {
            sum += number(session, protoField);
        }
        return sum;
    }

    /** Accounts of TaskManager processes. */
    public int accounts() {
        return json.path("accounts").size();
    }

    /** The jobs that have writers. */
    public Set<String> jobs() {
        Set<String> jobs = new TreeSet<>();
        json.path("writers").forEach(writer -> jobs.add(text(writer, "job_id")));
        return jobs;
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
        json.path("accounts").forEach(account -> left.add("account " + account));
        if (producers() != 0) {
            left.add(producers() + " producers");
        }
        if (memory("leased_bytes") != 0) {
            left.add(memory("leased_bytes") + " leased bytes");
        }
        return left;
    }

    /** The owners of all accounts that are writers: task attempts. */
    public List<JsonNode> writerOwners() {
        List<JsonNode> writers = new ArrayList<>();
        json.path("accounts").forEach(account -> account.path("owners").forEach(owner -> {
            if (number(owner, "writer_id") != 0) {
                writers.add(owner);
            }
        }));
        return writers;
    }

    /** A field of a part of the status as text, by its name in diagnostics.proto; "" when it has no value. */
    public static String text(JsonNode parent, String protoField) {
        return field(parent, protoField).asText();
    }

    private static long number(JsonNode parent, String protoField) {
        return field(parent, protoField).asLong();
    }

    private static JsonNode field(JsonNode parent, String protoField) {
        JsonNode node = parent.path(protoField);
        return node.isMissingNode() ? parent.path(camelCase(protoField)) : node;
    }

    private static String camelCase(String name) {
        StringBuilder text = new StringBuilder();
        for (String word : name.split("_")) {
            text.append(text.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return text.toString();
    }
}
