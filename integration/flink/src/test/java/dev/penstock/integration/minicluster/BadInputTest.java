package dev.penstock.integration.minicluster;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FreePorts;
import dev.penstock.integration.harness.LocalCluster;
import dev.penstock.integration.harness.SqlJob;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bad input ends the job, and the message that the user reads names what is wrong. Jobs do not restart here, and {@code
 * penstock.fallback = fail} keeps the stock writer from hiding what Penstock says.
 */
@Timeout(600)
class BadInputTest {
    private static final long ROWS = 100;
    /** Kafka's default waits a minute for a broker or a topic. */
    private static final String SHORT_BLOCK = ", 'properties.max.block.ms' = '5000'";

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

    /**
     * One line of the table.
     *
     * @param columns of the sink
     * @param select what is written there, from bids
     * @param topic null = a fresh one
     * @param more further options of the sink
     * @param expected all of these words are in the job's failure
     */
    record Case(String name, String columns, String select, String topic, Map<String, String> topicSettings,
            String more, List<String> expected) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> cases() {
        String id = "id BIGINT";
        String auction = "auction";
        return Stream.of(
                new Case("unknown topic", id, auction, "no-such-topic", Map.of(), SHORT_BLOCK,
                        List.of("no-such-topic", "create it")),
                new Case("transaction timeout above the broker's maximum", id, auction, null, Map.of(),
                        ", 'properties.transaction.timeout.ms' = '7200001'",
                        List.of("properties.transaction.timeout.ms = 7200001 is above transaction.max.timeout.ms")),
                new Case("row larger than the broker accepts", "id BIGINT, extra STRING", "auction, REPEAT(extra, 100)",
                        null, Map.of("max.message.bytes", "2000"), "", List.of("large")),
                new Case("null in a NOT NULL column", "id BIGINT, v BIGINT NOT NULL",
                        "auction, CASE WHEN auction = 5 THEN CAST(NULL AS BIGINT) ELSE auction END", null, Map.of(), "",
                        List.of("Column 'v' is NOT NULL")),
                new Case("null map key in FAIL mode", "id BIGINT, m MAP<STRING, INT>",
                        "auction, MAP[CASE WHEN auction = 5 THEN CAST(NULL AS STRING) ELSE 'k' END, 1]", null, Map.of(),
                        "", List.of("map", "key", "null")),
                new Case("broker down at start", id, auction, null, Map.of(),
                        ", 'properties.bootstrap.servers' = '127.0.0.1:" + FreePorts.one() + "'"
                                + SHORT_BLOCK, List.of("Timeout expired", "InitProducerId")));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theFailureSaysWhatIsWrong(Case c) {
        String topic = c.topic() == null ? Bed.topics().create("bad", 1, c.topicSettings()) : c.topic();
        String options = Sink.PENSTOCK.options(bed.daemon());
        JobFailure.require(bed.job(1, 300), Tables.bids(ROWS, 0)
                + Tables.sink(c.columns(), options, topic, "exactly-once", c.more())
                + "INSERT INTO sink SELECT " + c.select() + " FROM bids;\n", c.expected());
    }

    @Test
    void aStrangerIsRefusedByName() {
        try (DaemonProcess strict = DaemonProcess.startForStrangers()) {
            String topic = Bed.topics().create("stranger", 1);
            JobFailure.require(bed.job(1, 300), Tables.bids(ROWS, 0) + Tables.bidSink(
                    Sink.PENSTOCK.options(strict), topic, "exactly-once")
                    + Tables.copyBids(), List.of("allow_uids"));
        }
    }

    @Test
    void aBudgetOfZeroNamesTheSettingOfTheTaskManager() {
        try (LocalCluster poor = LocalCluster.start(1, 1, 0)) {
            String topic = Bed.topics().create("no-budget", 1);
            JobFailure.require(SqlJob.on(poor.rest()).set("execution.checkpointing.interval", "300 ms"),
                    Tables.bids(ROWS, 0) + Tables.bidSink(
                            Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once")
                            + Tables.copyBids(), List.of("taskmanager.memory.task.off-heap.size"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "16, is 16777216 bytes",
        "33, asked for"})
    void aBudgetThatIsTooSmallNamesTheNumbersAndTheSetting(int megabytes, String numbers) {
        requirePoor(megabytes, "*", List.of("NativeMemoryLimitException", numbers, "'penstock.fallback' is 'fail'",
                "taskmanager.memory.task.off-heap.size"));
    }

    /** What a writer needs to open fits, what one large row needs when it is encoded does not. */
    @Test
    void aBudgetThatIsUsedUpInTheMiddleFailsTheTaskWithTheNumbers() {
        requirePoor(39, "auction, bidder, price, channel, url, `dateTime`, REPEAT('x', 3000000)", List.of(
                "NativeMemoryLimitException", "(DENIED)", "memory denied", "encode_buffer", "asked for", "of 40894464 bytes are reserved",
                "peak", "raise taskmanager.memory.task.off-heap.size"));
    }

    private static void requirePoor(int megabytes, String select, List<String> expected) {
        try (LocalCluster poor = LocalCluster.start(1, 1, megabytes)) {
            String topic = Bed.topics().create("small-budget", 1);
            JobFailure.require(SqlJob.on(poor.rest()).set("execution.checkpointing.interval", "300 ms"),
                    Tables.bids(ROWS, 0) + Tables.bidSink(
                            Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once")
                            + "INSERT INTO sink SELECT " + select + " FROM bids;\n", expected);
        }
    }
}
