package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FreePorts;
import dev.penstock.integration.harness.RegistryProcess;
import dev.penstock.integration.judge.TopicReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Schemas are registered as the stock sink registers them, and a registry that gives no id ends the job. */
@Timeout(240)
class SchemaRegistryTest {
    private static final long ROWS = 500;
    private static final long KEYED_ROWS = 3_000;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
    private static final String COLUMNS = "id BIGINT, channel STRING";
    private static final String COPY = "INSERT INTO sink SELECT auction, channel FROM bids;\n";
    private static final String OTHER_COLUMNS = "{\"type\":\"record\",\"name\":\"record\","
            + "\"namespace\":\"org.apache.flink.avro.generated\",\"fields\":[{\"name\":\"id\",\"type\":\"string\"}]}";

    private static Bed bed;
    private static RegistryProcess registry;

    @BeforeAll
    static void open() {
        // Not in the time of the first test.
        Bed.broker();
        registry = RegistryProcess.start();
        bed = Bed.open(2);
    }

    @AfterAll
    static void close() {
        bed.close();
        registry.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    /** Without the option 'subject', and by two subtasks, each of which asks for the id. */
    @Test
    void theSubjectIsThatOfTheTopicAndItsIdIsInEveryRecord() {
        String topic = Bed.topics().create("registered", 2);
        Bed.finish(bed.job(2, 300), script(topic, registry.url(), ""));
        String latest = registry.latest(topic + "-value");
        List<Integer> ids = ids(topic);
        assertEquals(ROWS, ids.size());
        assertEquals(1, new TreeSet<>(ids).size(), () -> "ids " + new TreeSet<>(ids));
        assertTrue(latest.contains("\"id\":" + ids.get(0) + ","), latest);
        assertTrue(latest.contains("org.apache.flink.avro.generated"), latest);
    }

    /**
     * One table whose key is of avro-confluent.
     *
     * @param upsert whether the connector is the upsert one
     * @param options further options of the sink
     * @param select what is written there, from bids
     * @param tombstones whether some values must be null
     */
    record Keyed(String name, boolean upsert, String columns, String options, String select, boolean tombstones) {
        @Override
        public String toString() {
            return name;
        }

        String value() {
            return options.contains("debezium") ? "debezium-avro-confluent" : "avro-confluent";
        }
    }

    static Stream<Keyed> keyed() {
        return Stream.of(
                new Keyed("append", false, "k_id BIGINT, price BIGINT, k_channel STRING",
                        "'key.fields' = 'k_channel;k_id', 'key.fields-prefix' = 'k_', 'value.fields-include' = 'EXCEPT_KEY',"
                                + " 'value.format' = 'avro-confluent'",
                        "SELECT auction, price, CASE MOD(auction, 9) WHEN 0 THEN NULL ELSE channel END FROM bids", false),
                new Keyed("changelog", false, Tables.GROUP_COLUMNS,
                        "'key.fields' = 'bidders', 'value.format' = 'debezium-avro-confluent'", Tables.GROUPS, false),
                new Keyed("upsert", true, Tables.GROUP_COLUMNS + ", PRIMARY KEY (bidders) NOT ENFORCED",
                        "'value.format' = 'avro-confluent'", Tables.GROUPS, true));
    }

    /** The same subjects for both sinks, so that the ids are equal where the schemas are. */
    @ParameterizedTest
    @MethodSource("keyed")
    void keysAndValuesAreThoseOfStock(Keyed c) {
        String subject = "keyed-" + c.name();
        TopicRecords stock = TopicRecords.read(List.of(runKeyed(c, Sink.STOCK, subject)));
        String key = registry.latest(subject + "-key");
        String value = registry.latest(subject + "-value");

        String topic = runKeyed(c, Sink.PENSTOCK, subject);
        TopicRecords.read(List.of(topic)).requireSame(stock);
        assertEquals(key, registry.latest(subject + "-key"));
        assertEquals(value, registry.latest(subject + "-value"));

        assertTrue(stock.count() > 0);
        assertEquals(c.tombstones(), stock.has(TopicRecords.NULL));
        assertNotEquals(id(key), id(value));
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT, record -> {
            assertEquals(id(key), idOf(record.key()));
            if (record.value() != null) {
                assertEquals(id(value), idOf(record.value()));
            }
        });
    }

    /** Without the option 'subject' of either part. */
    @Test
    void theSubjectOfKeysIsThatOfTheTopic() {
        Keyed upsert = keyed().toList().get(2);
        String topic = runKeyed(upsert, Sink.PENSTOCK, null);
        int key = id(registry.latest(topic + "-key"));
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT,
                record -> assertEquals(key, idOf(record.key())));
        assertTrue(registry.latest(topic + "-value").contains("channel"));
    }

    /** Runs the job to its end and returns the topic that it wrote. */
    private static String runKeyed(Keyed c, Sink sink, String subject) {
        String topic = Bed.topics().create("keyed", 3);
        String options = "'key.format' = 'avro-confluent'" + registered("key.avro-confluent", subject, "-key")
                + registered("value." + c.value(), subject, "-value") + ", " + c.options();
        String connector = c.upsert() ? sink.upsertOptions(bed.daemonOf(sink)) : sink.options(bed.daemonOf(sink));
        String table = Tables.sinkOfTopics(c.columns(), connector, List.of(topic), options);
        Bed.finish(bed.job(1, 300), Tables.bids(KEYED_ROWS, 0) + table + "INSERT INTO sink " + c.select() + ";\n");
        return topic;
    }

    private static String registered(String prefix, String subject, String part) {
        return ", '" + prefix + ".url' = '" + registry.url() + "'"
                + (subject == null ? "" : ", '" + prefix + ".subject' = '" + subject + part + "'");
    }

    /** The id in a registry's answer. */
    private static int id(String answer) {
        Matcher id = Pattern.compile("\"id\":(\\d+)").matcher(answer);
        assertTrue(id.find(), answer);
        return Integer.parseInt(id.group(1));
    }

    /** The id in front of a key or a value. */
    private static int idOf(byte[] part) {
        assertEquals(0, part[0]);
        return ByteBuffer.wrap(part).getInt(1);
    }

    @Test
    void aRefusedSchemaEndsTheJobAndNothingIsWritten() {
        String topic = Bed.topics().create("refused", 1);
        String subject = topic + "-value";
        registry.register(subject, OTHER_COLUMNS);
        registry.requireCompatibility(subject, "BACKWARD");
        JobFailure.require(bed.job(1, 300), script(topic, registry.url(), ""),
                List.of("subject '" + subject + "'", registry.url() + " was refused by the registry", "error code: 409",
                        "compatibility rule"));
        assertEquals(List.of(), ids(topic));
        assertTrue(registry.latest(subject).contains("string"), registry.latest(subject));
    }

    @Test
    void aRegistryThatCannotBeReachedEndsTheJob() {
        String topic = Bed.topics().create("unreachable", 1);
        String url = "http://127.0.0.1:" + FreePorts.one();
        JobFailure.require(bed.job(1, 300), script(topic, url, ", 'avro-confluent.subject' = 'mine'"),
                List.of("subject 'mine'", url + " could not be asked for", "Connection refused", "'url'"));
        assertEquals(List.of(), ids(topic));
    }

    private static String script(String topic, String url, String more) {
        return Tables.bids(ROWS, 0)
                + Tables.sink(COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once", "avro-confluent",
                        ", 'avro-confluent.url' = '" + url + "'" + more)
                + COPY;
    }

    /** The ids of the schemas of all records. */
    private static List<Integer> ids(String topic) {
        List<Integer> ids = new ArrayList<>();
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT, record -> ids.add(idOf(record.value())));
        return ids;
    }
}
