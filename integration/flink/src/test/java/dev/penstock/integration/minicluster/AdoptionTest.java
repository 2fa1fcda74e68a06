package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ways to make a table native without touching its DDL, and those to switch it off again. */
@Timeout(600)
class AdoptionTest {
    private static final int ROWS = 2_000;
    private static final String MODULE = "LOAD MODULE penstock;\n";
    private static final String INSERT = "INSERT INTO sink SELECT * FROM bids";

    private static Bed bed;

    private String topic;

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
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
    @ValueSource(strings = {"", "TEMPORARY "})
    void afterLoadModuleAKafkaTableIsNative(String kind) {
        requireNative(MODULE + bids() + kafkaTable(kind) + INSERT);
    }

    @Test
    void afterLoadModuleAnUpsertTableIsNative() {
        requireNative(MODULE + bids() + upsertTable() + "INSERT INTO sink SELECT auction, MAX(price) FROM bids GROUP BY auction");
    }

    @Test
    void aCompiledPlanIsNativeWhereTheModuleIsLoaded(@TempDir Path folder) {
        Path plan = folder.resolve("plan.json");
        job().run(bids() + kafkaTable("") + "COMPILE PLAN 'file://" + plan + "' FOR " + INSERT);
        requireNative(MODULE + bids() + kafkaTable("") + "EXECUTE PLAN 'file://" + plan + "'");
    }

    @Test
    void theTablesOfACatalogOfThisTypeAreNative() {
        requireNative(bids().replace("TABLE bids", "TABLE default_catalog.default_database.bids")
                + "CREATE CATALOG c WITH ('type' = 'penstock');\nUSE CATALOG c;\n" + kafkaTable("")
                + INSERT.replace("FROM bids", "FROM default_catalog.default_database.bids"));
    }

    @Test
    void aHintMakesOneStatementNative() {
        requireNative(bids() + kafkaTable("")
                + INSERT.replace("sink", "sink /*+ OPTIONS('connector' = 'penstock-kafka') */"));
    }

    @Test
    void withoutAnyOfThemTheTableIsStocks() {
        requireStock(job(), bids() + kafkaTable("") + INSERT);
    }

    @Test
    void theConfigurationSwitchesOff() {
        requireStock(job().set("penstock.enabled", "false"), MODULE + bids() + kafkaTable("") + INSERT);
    }

    @Test
    void theTableSwitchesOff() {
        requireStock(job(), MODULE + bids() + kafkaTable("")
                + INSERT.replace("sink", "sink /*+ OPTIONS('penstock.enabled' = 'false') */"));
    }

    @Test
    void otherConnectorsAreUntouched() {
        String script = MODULE + bids() + "CREATE TABLE sink (" + BidSource.COLUMNS + ") WITH ('connector' = 'blackhole');\n" + INSERT;
        String plan = job().explain(script);
        assertFalse(plan.contains("penstock-"), plan);
        Bed.finish(job(), script);
    }

    private void requireNative(String script) {
        long before = bed.daemon().status().counter("rows");
        String plan = run(job().set("penstock.fallback", "fail"), script);
        assertTrue(plan.contains("[native]") || script.contains("EXECUTE PLAN"), plan);
        assertEquals(ROWS, bed.daemon().status().counter("rows") - before, "rows that went through the daemon");
    }

    private void requireStock(SqlJob job, String script) {
        long before = bed.daemon().status().counter("rows");
        String plan = run(job, script);
        assertFalse(plan.contains("[native]"), plan);
        assertEquals(before, bed.daemon().status().counter("rows"), "rows that went through the daemon");
    }

    /** Runs the script and proves that every row has come; returns its plan. */
    private String run(SqlJob job, String script) {
        String plan = script.contains("EXECUTE PLAN") ? "" : job.explain(script);
        Bed.finish(job, script + ";\n");
        if (script.contains("GROUP BY")) {
            assertTrue(Bed.read(topic, "auction").records() >= 1, "records of an upsert table");
        } else {
            Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        }
        return plan;
    }

    /** The folder of the sockets comes from Flink's configuration, since the tables are those of stock. */
    private static SqlJob job() {
        return bed.job(1, 500).set("penstock.socket-dir", bed.daemon().directory().toString());
    }

    private static String bids() {
        return Tables.bids(ROWS, 0);
    }

    private String kafkaTable(String kind) {
        topic = Bed.topics().create("adoption", 1);
        return Tables.sink(BidSource.COLUMNS, "'connector' = 'kafka'", topic, "exactly-once", "").replace("TEMPORARY ", kind);
    }

    private String upsertTable() {
        topic = Bed.topics().create("adoption-upsert", 1);
        return Tables.sinkOfTopics("auction BIGINT, price BIGINT, PRIMARY KEY (auction) NOT ENFORCED",
                "'connector' = 'upsert-kafka'", List.of(topic),
                "'key.format' = 'json', 'value.format' = 'json'").replace("TEMPORARY ", "");
    }
}
