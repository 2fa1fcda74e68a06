package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.SqlJob;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whole records from SQL to a real broker: the same rows through stock and through Penstock, and the topics equal
 * record by record: partition, key, value, headers, and the timestamp where the table writes one. Both read them back alike.
 */
@Timeout(480)
class RecordsTest {
    private static final long BIDS = 3_000;
    private static final int PARTITIONS = 3;

    private static Bed bed;

    /**
     * One table.
     *
     * @param upsert whether the connector is the upsert one
     * @param topics how many topics the table names
     * @param options further options of the sink
     * @param select what is written there, from bids; {@code ${topic}} with a number stands for a topic
     * @param seen what some record of stock's must contain: without that the case would not show what it is made for
     */
    record Case(String name, boolean upsert, int topics, String columns, String options, String select,
            List<String> seen) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> cases() {
        String headers = "MAP['channel', ENCODE(channel, 'UTF-8'), 'none', CAST(NULL AS BYTES),"
                + " CAST(NULL AS STRING), ENCODE('x', 'UTF-8'), '', ENCODE('', 'UTF-8')]";
        String at = "CASE MOD(auction, 5) WHEN 0 THEN CAST(NULL AS TIMESTAMP_LTZ(3))"
                + " ELSE TO_TIMESTAMP_LTZ(1600000000000 + auction, 3) END";
        return Stream.of(
                new Case("key of json, value of csv", false, 1, "id BIGINT, channel STRING, price BIGINT",
                        "'key.format' = 'json', 'key.fields' = 'channel', 'value.format' = 'csv'",
                        "SELECT auction, CASE MOD(auction, 9) WHEN 0 THEN NULL ELSE channel END, price FROM bids",
                        List.of("={\"channel\":\"channel-", "={\"channel\":null}")),
                new Case("raw key, which may be null", false, 1, "id BIGINT, name STRING",
                        "'key.format' = 'raw', 'key.fields' = 'name', 'value.format' = 'json', 'sink.partitioner' = 'fixed'",
                        "SELECT auction, CASE MOD(auction, 9) WHEN 0 THEN NULL WHEN 1 THEN '' ELSE channel END FROM bids",
                        List.of("no key", "= ={", "=channel-")),
                new Case("prefix and EXCEPT_KEY", false, 1, "k_channel STRING, price BIGINT, k_id BIGINT, extra STRING",
                        "'key.format' = 'json', 'key.fields' = 'k_id;k_channel', 'key.fields-prefix' = 'k_',"
                                + " 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'",
                        "SELECT channel, price, auction, extra FROM bids", List.of("={\"id\":7,\"channel\":")),
                new Case("headers and timestamps", false, 1,
                        "h MAP<STRING, BYTES> METADATA FROM 'headers', id BIGINT NOT NULL,"
                                + " ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'",
                        "'key.format' = 'csv', 'key.fields' = 'id', 'value.format' = 'json'",
                        "SELECT " + headers + ", auction, " + at + " FROM bids",
                        List.of("[channel=", "[=]", " @1600000000001")),
                new Case("topics of the rows' own", false, 2,
                        "id BIGINT NOT NULL, too STRING METADATA FROM 'topic'",
                        "'key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'json'",
                        "SELECT auction, CASE MOD(auction, 3) WHEN 0 THEN '${topic0}' ELSE '${topic1}' END FROM bids",
                        List.of("={\"id\":3}", "={\"id\":4}")),
                new Case("key of a changelog", false, 1, Tables.GROUP_COLUMNS,
                        "'key.format' = 'json', 'key.fields' = 'bidders', 'value.format' = 'debezium-json'",
                        Tables.GROUPS, List.of("\"op\":\"d\"")),
                new Case("upsert", true, 1, Tables.GROUP_COLUMNS + ", PRIMARY KEY (bidders) NOT ENFORCED",
                        "'key.format' = 'json', 'value.format' = 'csv'", Tables.GROUPS, List.of(TopicRecords.NULL)),
                new Case("upsert with a composite key", true, 1,
                        "k_b BIGINT, n BIGINT, k_a STRING, latest TIMESTAMP(3), PRIMARY KEY (k_a, k_b) NOT ENFORCED",
                        "'key.format' = 'json', 'key.json.timestamp-format.standard' = 'ISO-8601',"
                                + " 'value.format' = 'json', 'key.fields-prefix' = 'k_',"
                                + " 'value.fields-include' = 'EXCEPT_KEY'",
                        "SELECT MOD(auction, 7), COUNT(*), SUBSTRING(channel, 1, 9), MAX(`dateTime`) FROM bids"
                                + " GROUP BY MOD(auction, 7), SUBSTRING(channel, 1, 9) HAVING COUNT(*) < 200",
                        List.of("={\"a\":\"channel-", TopicRecords.NULL)),
                // Several groups have the same count at a time, and each leaves it: the materializer finds the one before.
                new Case("upsert by another key than the query's", true, 1,
                        "n BIGINT, bidders BIGINT, PRIMARY KEY (n) NOT ENFORCED",
                        "'key.format' = 'json', 'value.format' = 'json'",
                        "SELECT COUNT(*), MOD(auction, 40) FROM bids GROUP BY MOD(auction, 40)",
                        List.of("={\"n\":3} " + TopicRecords.NULL, "={\"n\":3} ={\"n\":3,\"bidders\":")));
    }

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void stockAndPenstockWriteAndReadTheSameRecords(Case c) {
        TopicRecords stock = TopicRecords.read(run(c, Sink.STOCK, bed.job(1, 500), Tables.bids(BIDS, 0)));
        c.seen().forEach(text -> assertTrue(stock.has(text), "stock wrote no record with " + text));

        DaemonStatus before = bed.daemon().status();
        List<String> topics = run(c, Sink.PENSTOCK, bed.job(1, 500), Tables.bids(BIDS, 0));
        TopicRecords penstock = TopicRecords.read(topics);
        DaemonStatus after = bed.daemon().status();

        penstock.requireSame(stock);
        assertEquals(stock.count(), after.counter("rows") - before.counter("rows"), "rows through the daemon");

        List<String> readByStock = rows(c, Sink.STOCK, topics);
        assertFalse(readByStock.isEmpty());
        assertEquals(readByStock, rows(c, Sink.PENSTOCK, topics));
    }

    /** Each subtask has the groups of its keys, so that both write the same records; in which order is chance. */
    @Test
    void eachSubtaskFixesOnePartition() {
        Case c = new Case("fixed", false, 1, "id BIGINT, n BIGINT",
                "'format' = 'debezium-json', 'sink.partitioner' = 'fixed'",
                "SELECT auction, COUNT(*) FROM bids GROUP BY auction", List.of());
        TopicRecords stock = TopicRecords.read(run(c, Sink.STOCK, bed.job(2, 500), Tables.bids(BIDS, 0)));
        TopicRecords penstock = TopicRecords.read(run(c, Sink.PENSTOCK, bed.job(2, 500), Tables.bids(BIDS, 0)));
        assertEquals(2, stock.byPartition().size());
        assertEquals(stock.byPartition().keySet(), penstock.byPartition().keySet());
        stock.byPartition().forEach((place, records) -> assertEquals(
                records.stream().sorted().toList(), penstock.byPartition().get(place).stream().sorted().toList(), place));
    }

    @Test
    void anUpdatingAggregateEndsInTheStateOfStockThroughThreeFailures() {
        long bids = 20_000;
        Case c = new Case("upsert", true, 1,
                "bidders BIGINT, bids BIGINT, top BIGINT, PRIMARY KEY (bidders) NOT ENFORCED",
                "'key.format' = 'json', 'value.format' = 'json'",
                "SELECT MOD(auction, 1000), COUNT(*), MAX(price) FROM bids GROUP BY MOD(auction, 1000)"
                        + " HAVING MAX(price) > 1 AND MOD(COUNT(*), 20) <> MOD(MAX(price), 3)",
                List.of());
        TopicRecords stock = TopicRecords.read(run(c, Sink.STOCK, bed.job(2, 500), Tables.bids(bids, 0)));

        InducedFailures failures = InducedFailures.named("upserts", 3);
        SqlJob breaking = InducedFailures.breakingBids(bed.job(2, 500), "upserts", bids, 4_000);
        TopicRecords penstock = TopicRecords.read(run(c, Sink.PENSTOCK, breaking, ""));

        assertEquals(0, failures.left(), "failures that did not happen");
        assertTrue(stock.has(TopicRecords.NULL), "no group was deleted");
        assertFalse(stock.compacted().isEmpty());
        assertEquals(stock.compacted(), penstock.compacted());
    }

    /** The physical columns of all rows, in an order of their own. */
    private static List<String> rows(Case c, Sink sink, List<String> topics) {
        String more = c.options() + (c.upsert() ? "" : ", 'scan.startup.mode' = 'earliest-offset'")
                + ", 'scan.bounded.mode' = 'latest-offset', 'properties.isolation.level' = 'read_committed'";
        String columns = Stream.of(c.columns().split(", "))
                .filter(column -> column.matches("[a-z_]+ [A-Z].*") && !column.contains("METADATA"))
                .map(column -> column.substring(0, column.indexOf(' ')))
                .filter(column -> !column.equals("PRIMARY"))
                .reduce((a, b) -> a + ", " + b).orElseThrow();
        return bed.job(1, 500).collect(table(c, sink, topics, more) + "SELECT " + columns + " FROM sink;\n")
                .stream().sorted().toList();
    }

    /** Runs the job to its end and returns the topics that it wrote. */
    private static List<String> run(Case c, Sink sink, SqlJob job, String bids) {
        List<String> topics = IntStream.range(0, c.topics())
                .mapToObj(i -> Bed.topics().create("records", PARTITIONS)).toList();
        String select = c.select();
        for (int i = 0; i < topics.size(); i++) {
            select = select.replace("${topic" + i + "}", topics.get(i));
        }
        Bed.finish(job, bids + table(c, sink, topics, c.options()) + "INSERT INTO sink " + select + ";\n");
        return topics;
    }

    private static String table(Case c, Sink sink, List<String> topics, String options) {
        String connector = c.upsert() ? sink.upsertOptions(bed.daemonOf(sink)) : sink.options(bed.daemonOf(sink));
        return Tables.sinkOfTopics(c.columns(), connector, topics, options);
    }
}
