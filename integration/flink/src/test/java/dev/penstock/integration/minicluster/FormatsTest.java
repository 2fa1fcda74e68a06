package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.flink.sink.RunningVersions;
import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.RegistryProcess;
import dev.penstock.integration.judge.TopicReader;
import dev.penstock.integration.nexmark.BidSource;
import dev.penstock.integration.nexmark.messages.Auction;
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
 * Each value format from SQL to a real broker: the same rows through stock and through Penstock, and the two topics
 * equal record by record. One subtask writes one partition, so that the order of all records is that of the rows.
 */
@Timeout(600)
class FormatsTest {
    private static final long BIDS = 3_000;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

    private static final String MAP_COLUMNS = BidSource.COLUMNS + ", m MAP<STRING, BIGINT>, a ARRAY<STRING>";
    private static final String MAPS = "SELECT *, MAP['first', auction, 'second', bidder, 'third', price, channel, 4],"
            + " ARRAY[channel, CAST(NULL AS STRING)] FROM bids";

    /** Stands for the address of the registry, which is not known before it runs. */
    private static final String REGISTRY = "{registry}";

    private static Bed bed;
    private static RegistryProcess registry;

    /**
     * One line of the table.
     *
     * @param columns of the sink
     * @param select what is written there, from bids
     * @param more further options of the sink, each with a comma in front
     * @param seen what some record of stock's must contain, or be when it is {@link #NULL} or {@link #EMPTY}: without
     *     that the case would not show what it is made for
     */
    record Case(String format, String columns, String select, String more, List<String> seen) {
        @Override
        public String toString() {
            return format + more;
        }
    }

    private static final String NULL = "a null value";
    private static final String EMPTY = "=";

    static Stream<Case> cases() {
        String bids = "SELECT * FROM bids";
        String nullAndEmpty = "SELECT CASE MOD(auction, 7) WHEN 0 THEN CAST(NULL AS STRING) WHEN 1 THEN ''"
                + " ELSE extra END FROM bids";
        // Native from Flink 2.2 on.
        boolean protobuf = Stream.of("2.0.", "2.1.").noneMatch(RunningVersions.current().flink()::startsWith);
        return Stream.of(
                changelog("debezium-json", "", "\"op\":\"c\"", "\"op\":\"d\""),
                changelog("debezium-json", ", 'debezium-json.encode.ignore-null-fields' = 'true'", "={\"after\":{"),
                changelog("canal-json", "", "\"type\":\"INSERT\"", "\"type\":\"DELETE\""),
                changelog("maxwell-json", "", "\"type\":\"insert\"", "\"type\":\"delete\""),
                changelog("ogg-json", "", "\"op_type\":\"I\"", "\"op_type\":\"D\""),
                new Case("csv", BidSource.COLUMNS, bids, "", List.of(",\"https:", ",channel-")),
                new Case("csv", BidSource.COLUMNS, bids,
                        ", 'csv.field-delimiter' = '\\t', 'csv.quote-character' = '|'", List.of("\t|https:")),
                // These two are not the same bytes in every line of Flink.
                new Case("csv", "price DECIMAL(20, 2)", "SELECT CAST(price AS DECIMAL(20, 2)) FROM bids",
                        ", 'csv.field-delimiter' = ';'", List.of(".00")),
                new Case("json", "t TIME(3)", "SELECT CAST(`dateTime` AS TIME(3)) FROM bids", "",
                        List.of("={\"t\":\"")),
                new Case("json", "r ROW<a BIGINT NOT NULL>",
                        "SELECT ROW(CASE MOD(auction, 3) WHEN 0 THEN CAST(NULL AS BIGINT) ELSE auction END) FROM bids", "",
                        List.of("={\"r\":{\"a\":null}}")),
                new Case("raw", "extra STRING", nullAndEmpty, "", List.of(NULL, EMPTY)),
                new Case("raw", "price BIGINT", "SELECT price FROM bids", ", 'raw.endianness' = 'little-endian'",
                        List.of("\0\0\0\0")),
                protobuf("", "\10\1\22", "\12\7channel", "B\5"),
                protobuf(", 'protobuf.write-null-string-literal' = 'n/a'", "\12\3n/a"),
                new Case("avro", MAP_COLUMNS, MAPS, "", List.of("\nthird")),
                new Case("avro", "t TIMESTAMP(6), l TIMESTAMP_LTZ(6)",
                        "SELECT CAST(`dateTime` AS TIMESTAMP(6)), CAST(`dateTime` AS TIMESTAMP_LTZ(6)) FROM bids",
                        ", 'avro.timestamp_mapping.legacy' = 'false'", List.of("=\2")),
                new Case("avro-confluent", MAP_COLUMNS, MAPS, registered("avro-confluent", "maps"),
                        List.of("=\0\0", "\nthird")),
                changelog("debezium-avro-confluent", registered("debezium-avro-confluent", "groups"),
                        "\2\2c", "\2\2d"))
                .filter(c -> protobuf || !c.format().equals("protobuf"));
    }

    /** Maps with several keys, one of them null; of the two members of a oneof, the column that stands last. */
    private static Case protobuf(String more, String... seen) {
        String select = "SELECT CASE MOD(auction, 3) WHEN 0 THEN SUBSTRING(extra, 1, 5) END, CAST(price AS DOUBLE),"
                + " MAP['channel', bidder, CAST(NULL AS STRING), auction, url, 0, channel, price], auction,"
                + " ARRAY[CAST(MOD(price, 10) AS INT), CAST(NULL AS INT), -1],"
                + " ROW(CASE MOD(price, 3) WHEN 0 THEN 'APPLE' WHEN 1 THEN 'no channel' END, url),"
                + " bidder, CASE MOD(auction, 2) WHEN 0 THEN ENCODE(SUBSTRING(extra, 1, 5), 'UTF-8') END FROM bids";
        String columns = "extra STRING, price DOUBLE, counts MAP<STRING, BIGINT>, auction BIGINT, digits ARRAY<INT>,"
                + " `source` ROW<channel STRING, url STRING>, bidder BIGINT, `raw` BYTES";
        String message = ", 'protobuf.message-class-name' = '" + Auction.Bid.class.getName() + "'";
        return new Case("protobuf", columns, select, message + more, List.of(seen));
    }

    /** The registry gives one id to both sinks, since they name one subject. */
    private static String registered(String format, String subject) {
        return ", '" + format + ".url' = '" + REGISTRY + "', '" + format + ".subject' = '" + subject + "'";
    }

    private static Case changelog(String format, String more, String... seen) {
        return new Case(format, Tables.GROUP_COLUMNS, Tables.GROUPS, more, List.of(seen));
    }

    @BeforeAll
    static void open() {
        registry = RegistryProcess.start();
        bed = Bed.open(1);
    }

    @AfterAll
    static void close() {
        bed.close();
        registry.close();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void stockAndPenstockWriteTheSameRecords(Case c) {
        List<String> stock = run(c, Sink.STOCK);
        for (String text : c.seen()) {
            assertTrue(stock.stream().anyMatch(r -> text.equals(EMPTY) ? r.equals(text) : r.contains(text)),
                    "stock wrote no record with " + text);
        }

        DaemonStatus before = bed.daemon().status();
        List<String> penstock = run(c, Sink.PENSTOCK);
        DaemonStatus after = bed.daemon().status();

        for (int i = 0; i < Math.min(stock.size(), penstock.size()); i++) {
            assertEquals(stock.get(i), penstock.get(i), "record " + i);
        }
        assertEquals(stock.size(), penstock.size(), "records");
        assertTrue(after.counter("batches") > before.counter("batches"), "no batch went through the daemon");
        assertEquals(stock.size(), after.counter("rows") - before.counter("rows"), "rows through the daemon");
        bed.requireNothingLeft();
    }

    private static List<String> run(Case c, Sink sink) {
        String topic = Bed.topics().create("format-" + c.format(), 1);
        String options = sink.options(bed.daemonOf(sink));
        Bed.finish(bed.job(1, 500), Tables.bids(BIDS, 0)
                + Tables.sink(c.columns(), options, topic, "exactly-once", c.format(),
                        c.more().replace(REGISTRY, registry.url()))
                + "INSERT INTO sink " + c.select() + ";\n");
        return records(topic);
    }

    /** Key and value of each record in the order of the one partition, byte by byte as Latin-1. */
    private static List<String> records(String topic) {
        List<String> records = new ArrayList<>();
        TopicReader.read(Bed.broker().bootstrapServers(), topic, READ_TIMEOUT,
                record -> records.add(text(record.key(), "") + text(record.value(), NULL)));
        return records;
    }

    private static String text(byte[] part, String absent) {
        return part == null ? absent : "=" + new String(part, StandardCharsets.ISO_8859_1);
    }
}
