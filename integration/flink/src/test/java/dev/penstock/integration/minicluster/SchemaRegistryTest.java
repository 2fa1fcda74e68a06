package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.RegistryProcess;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.judge.TopicReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schemas are registered as the stock sink registers them, and a registry that gives no id ends the job. */
@Timeout(240)
class SchemaRegistryTest {
    private static final long ROWS = 500;
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
        String url = "http://127.0.0.1:" + Workspace.freePorts(1)[0];
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
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT, record -> {
            assertEquals(0, record.value()[0]);
            ids.add(ByteBuffer.wrap(record.value()).getInt(1));
        });
        return ids;
    }
}
