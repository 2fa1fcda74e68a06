package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.judge.TopicContents;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The thinnest chain: one BIGINT column, few rows, JSON, from RowData in a MiniCluster to a real broker. */
@Timeout(600)
class FirstLightTest {
    private static final int ROWS = 100;

    private static Bed bed;

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
    @MethodSource("dev.penstock.integration.minicluster.Sink#underTest")
    void oneBigintColumnArrivesOnceInOneTransaction(Sink sink) {
        String topic = Bed.topics().create("first-light", 1);
        Bed.finish(bed.job(1, 500), Tables.bids(ROWS, 0)
                + Tables.sink("id BIGINT", sink.options(bed.daemonOf(sink)), topic, "exactly-once", "")
                + "INSERT INTO sink SELECT auction FROM bids;\n");

        TopicContents contents = Bed.read(topic, "id");
        assertEquals(ROWS, contents.records());
        assertEquals(0, contents.duplicatedIds());
        assertEquals(0, contents.missingIds(ROWS));
        if (sink.needsDaemon()) {
            DaemonStatus daemon = bed.daemon().status();
            assertEquals(ROWS, daemon.counter("rows"), "rows that went through the daemon");
            assertEquals(daemon.counter("epochs_sealed") + daemon.counter("epochs_empty"), daemon.counter("line_answers"),
                    "each seal took the short way");
        }
    }
}
