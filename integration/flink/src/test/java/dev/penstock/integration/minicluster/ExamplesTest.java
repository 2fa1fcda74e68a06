package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.examples.FlightsToKafka;
import dev.penstock.integration.harness.FlinkRest;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.judge.TopicReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The jobs below examples/ as users have them, but for addresses and names; what they write follows from the file alone. */
@Timeout(600)
class ExamplesTest {
    private static final Path DATA = Workspace.root().resolve("integration/data/flights.jsonl");
    private static final Pattern SET = Pattern.compile("(?m)^SET '([^']+)' = '([^']+)';\\n");
    private static final ObjectMapper JSON = new ObjectMapper();

    private static Bed bed;
    private static List<String> lines;

    @BeforeAll
    static void open() throws IOException {
        bed = Bed.open(1);
        lines = Files.readAllLines(DATA);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @Test
    void append() throws IOException {
        List<String> values = new ArrayList<>();
        read(run("append", "flights"), (key, value) -> values.add(value));
        assertEquals(lines, values);
    }

    @Test
    void upsert() throws IOException {
        Map<String, String> newest = new TreeMap<>();
        read(run("upsert", "airports"), newest::put);
        assertEquals(
                totals(
                        flight -> "{\"origin\":\"" + flight.get("origin").asText() + "\"}",
                        (flight, total) -> String.format(
                                "{\"origin\":\"%s\",\"flights\":%d,\"delayed\":%d,\"worst\":%d}",
                                flight.get("origin").asText(), total.flights, total.delayed, total.worst)),
                newest);
    }

    @Test
    void cdc() throws IOException {
        Map<String, String> routes = new TreeMap<>();
        Map<String, Integer> kinds = new HashMap<>();
        read(run("cdc", "routes"), (key, value) -> {
            JsonNode change = JSON.readTree(value);
            kinds.merge(change.get("op").asText(), 1, Integer::sum);
            if (change.get("op").asText().equals("d")) {
                assertEquals(change.get("before").toString(), routes.remove(key), "a change takes back what was there");
            } else {
                assertEquals(null, routes.put(key, change.get("after").toString()), "a row comes where none is");
            }
        });
        Map<String, String> expected = totals(
                flight -> "{\"origin\":\"" + flight.get("origin").asText() + "\",\"destination\":\""
                        + flight.get("destination").asText() + "\"}",
                (flight, total) -> total.worst >= 120 ? null : String.format(
                        "{\"origin\":\"%s\",\"destination\":\"%s\",\"flights\":%d,\"worst\":%d}",
                        flight.get("origin").asText(), flight.get("destination").asText(), total.flights, total.worst));
        assertEquals(expected, routes);
        assertTrue(kinds.get("c") - kinds.get("d") == expected.size(), kinds.toString());
    }

    @Test
    void datastream() throws Exception {
        String topic = Bed.topics().create("example-datastream", 1);
        FlinkRest rest = bed.cluster().rest();
        Configuration configuration = new Configuration();
        configuration.setString("penstock.socket-dir", bed.daemon().directory().toString());
        configuration.setString("penstock.fallback", "fail");
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createRemoteEnvironment(rest.host(), rest.port(), configuration);
        env.setParallelism(1);
        env.enableCheckpointing(500);
        FlightsToKafka.define(env, DATA.toUri().toString(), Bed.broker().bootstrapServers(), topic);
        long before = bed.daemon().status().counter("rows");
        env.executeAsync().getJobExecutionResult().get(Bed.JOB_TIMEOUT.toSeconds(), TimeUnit.SECONDS);

        List<String> expected = new ArrayList<>();
        for (String line : lines) {
            JsonNode flight = JSON.readTree(line);
            String key = "{\"origin\":" + flight.get("origin") + ",\"destination\":" + flight.get("destination") + "}";
            if (flight.get("delay").asInt() > 15) {
                expected.add(key + key.replace("}", ",\"delay\":" + flight.get("delay") + "}"));
            }
        }
        List<String> records = new ArrayList<>();
        read(topic, (key, value) -> records.add(key + value));
        assertEquals(expected, records);
        assertEquals(expected.size(), bed.daemon().status().counter("rows") - before, "rows that went through the daemon");
    }

    /** What the flights of one group come to. */
    private static final class Total {
        private long flights;
        private long delayed;
        private int worst = Integer.MIN_VALUE;
    }

    private interface Record {
        String of(JsonNode flight, Total total);
    }

    private interface Reader {
        void accept(String key, String value) throws IOException;
    }

    /** The records that must be there, by key; a null is none. */
    private static Map<String, String> totals(Function<JsonNode, String> key, Record record) throws IOException {
        Map<String, Total> totals = new HashMap<>();
        Map<String, String> records = new TreeMap<>();
        for (String line : lines) {
            JsonNode flight = JSON.readTree(line);
            Total total = totals.computeIfAbsent(key.apply(flight), k -> new Total());
            int delay = flight.get("delay").asInt();
            total.flights++;
            total.delayed += delay > 15 ? 1 : 0;
            total.worst = Math.max(total.worst, delay);
            records.put(key.apply(flight), record.of(flight, total));
        }
        records.values().removeIf(r -> r == null);
        assertTrue(records.size() > 10, "groups of the file");
        return records;
    }

    /** Runs an example through the daemon and returns the topic that it wrote to. */
    private static String run(String name, String table) throws IOException {
        String script = Files.readString(Workspace.root().resolve("examples/sql/" + name + ".sql"));
        String topic = Bed.topics().create("example-" + name, 1);
        SqlJob job = bed.job(1, 500)
                .set("penstock.socket-dir", bed.daemon().directory().toString())
                .set("penstock.fallback", "fail");
        Matcher set = SET.matcher(script);
        while (set.find()) {
            job.set(set.group(1), set.group(2));
        }
        script = set.replaceAll("");
        script = replaced(script, "localhost:9092", Bed.broker().bootstrapServers());
        script = replaced(script, "file:///tmp/flights.jsonl", DATA.toUri().toString());
        script = replaced(script, "'topic' = '" + table + "'", "'topic' = '" + topic + "'");
        script = replaced(script, "-id-prefix' = '" + table + "'", "-id-prefix' = '" + topic + "'");
        long before = bed.daemon().status().counter("rows");
        Bed.finish(job, script);
        assertTrue(bed.daemon().status().counter("rows") > before, "rows that went through the daemon");
        return topic;
    }

    private static String replaced(String script, String part, String by) {
        assertTrue(script.contains(part), () -> "the example has no " + part);
        return script.replace(part, by);
    }

    private static void read(String topic, Reader reader) {
        TopicReader.read(Bed.broker().bootstrapServers(), topic, Duration.ofSeconds(60), record -> {
            try {
                reader.accept(text(record.key()), text(record.value()));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
}
