package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.judge.TopicReader;
import dev.penstock.integration.parity.messages.Proto2;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A row that Flink's serializer refuses ends the job under both sinks, at that row: without it both finish with the same
 * records, and with it the consumer sees nothing but a beginning of those that stand before it.
 */
@Timeout(600)
class RowFailureTest {
    private static final long ROWS = 1_500;
    private static final long ROWS_A_SECOND = 400;
    /** Late enough for some checkpoints to be over. */
    private static final long BAD_ROW = 1_200;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);
    private static final String TABLE = "default_catalog.default_database.sink";
    private static final String BAD = "CASE WHEN auction = " + BAD_ROW + " THEN ";

    private static Bed bed;

    /**
     * One line of the table.
     *
     * @param columns of the sink behind {@code id BIGINT}
     * @param select what is written there, from bids, one row of which is bad
     * @param more further options of the sink, each with a comma in front
     * @param penstock all of these words are in what Penstock says; its own words, since the message of stock is Flink's
     */
    record Case(String name, String format, String columns, String select, String more, List<String> penstock) {
        @Override
        public String toString() {
            return name + ", " + format;
        }
    }

    static Stream<Case> cases() {
        String nullKey = "MAP[" + BAD + "CAST(NULL AS STRING) ELSE 'k' END, 1]";
        String nested = "ROW(" + BAD + "CAST(NULL AS BIGINT) ELSE auction END)";
        return Stream.of(
                new Case("null key in FAIL mode", "json", "m MAP<STRING, INT>", nullKey, "",
                        List.of(TABLE, "row ", "field: m", "null key")),
                new Case("null in a NOT NULL field", "avro", "r ROW<a BIGINT NOT NULL>", nested, "",
                        List.of(TABLE, "row ", "r.a", "NOT NULL")),
                new Case("half of a surrogate pair", "csv", "s STRING", BAD + "U&'x\\D83D' ELSE channel END", "",
                        List.of(TABLE, "row ", "'s'", "surrogate")),
                new Case("null in a required field", "protobuf", "name STRING, grade STRING",
                        BAD + "CAST(NULL AS STRING) ELSE channel END, 'FIVE'",
                        ", 'protobuf.message-class-name' = '" + Proto2.Strict.class.getName() + "'",
                        List.of(TABLE, "row ", "field: name", "required")));
    }

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void bothSinksFailAtTheSameRow(Case c) {
        List<String> good = finished(c, Sink.STOCK);
        assertEquals(good, finished(c, Sink.PENSTOCK), "records without the bad row");

        requireFailure(c, Sink.STOCK, List.of(), good);
        requireFailure(c, Sink.PENSTOCK, c.penstock(), good);
        bed.requireNothingLeft();
    }

    private static List<String> finished(Case c, Sink sink) {
        String topic = Bed.topics().create("row-good", 1);
        Bed.finish(bed.job(1, 300), script(c, sink, topic, 0) + " WHERE auction <> " + BAD_ROW + ";\n");
        return records(topic);
    }

    private static void requireFailure(Case c, Sink sink, List<String> words, List<String> good) {
        String topic = Bed.topics().create("row-bad", 1);
        JobFailure.require(bed.job(1, 300), script(c, sink, topic, ROWS_A_SECOND) + ";\n", words);

        List<String> visible = records(topic);
        assertTrue(visible.size() <= BAD_ROW, sink + " shows " + visible.size() + " records, of the failed epoch too");
        assertEquals(good.subList(0, visible.size()), visible, "records of epochs before the failed one, " + sink);
        assertTrue(!visible.isEmpty(), sink + " had committed nothing before the bad row: the case shows little");
    }

    /** Key and value of each committed record in the order of the one partition, byte by byte as Latin-1. */
    private static List<String> records(String topic) {
        List<String> records = new ArrayList<>();
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT,
                record -> records.add(text(record.key()) + text(record.value())));
        return records;
    }

    private static String text(byte[] part) {
        return part == null ? "null" : "=" + new String(part, StandardCharsets.ISO_8859_1);
    }

    private static String script(Case c, Sink sink, String topic, long rate) {
        String id = c.format().equals("protobuf") ? "id INT" : "id BIGINT";
        String select = c.format().equals("protobuf") ? "CAST(auction AS INT)" : "auction";
        return Tables.bids(ROWS, rate)
                + Tables.sink(id + ", " + c.columns(), sink.options(bed.daemonOf(sink)), topic, "exactly-once", c.format(),
                        c.more())
                + "INSERT INTO sink SELECT " + select + ", " + c.select() + " FROM bids";
    }
}
