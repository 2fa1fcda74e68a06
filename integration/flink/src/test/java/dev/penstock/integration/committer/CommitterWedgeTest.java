package dev.penstock.integration.committer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.penstock.integration.committer.Scenario.Variant;
import dev.penstock.integration.harness.BrokerRelease;
import dev.penstock.integration.judge.TopicContents;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A broker that does not answer during a commit (kafka.md 9.5, variants V1, V2, V4), with both transaction protocols.
 * With the bare committer of stock Flink the next transactions stay open although nothing is wrong any more; with
 * Penstock's every row arrives once. The producers' limits are short here (SealedTransactions), so that a stopped
 * broker is a timeout.
 */
@Timeout(300)
class CommitterWedgeTest {
    private static final List<BrokerRelease> RELEASES =
            BrokerRelease.underTest(BrokerRelease.KAFKA_4_2_TV1, BrokerRelease.KAFKA_4_2);
    private static final long PLAY_SECONDS = 240;

    private static final Map<BrokerRelease, Stage> STAGES = new TreeMap<>();

    @BeforeAll
    static void play() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(RELEASES.size());
        try {
            Map<BrokerRelease, Future<Stage>> playing = new TreeMap<>();
            for (BrokerRelease release : RELEASES) {
                playing.put(release, threads.submit(() -> Stage.play(release)));
            }
            for (Map.Entry<BrokerRelease, Future<Stage>> stage : playing.entrySet()) {
                STAGES.put(stage.getKey(), stage.getValue().get(PLAY_SECONDS, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @AfterAll
    static void close() throws Exception {
        for (Stage stage : STAGES.values()) {
            stage.close();
        }
    }

    static Stream<Arguments> cases() {
        return RELEASES.stream().flatMap(release ->
                Stream.of(Variant.values()).map(variant -> Arguments.of(release, variant)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void bareCommitterLeavesTransactionsOpen(BrokerRelease release, Variant variant) {
        Scenario scenario = STAGES.get(release).scenario(variant, Committers.BARE);
        assertFalse(scenario.openAfterwards().isEmpty(), "the bare committer has ended every transaction in " + variant
                + ": if the client library has become better, the wrapper may go");
        assertNotEquals(Scenario.TRANSACTIONS * SealedTransactions.ROWS_EACH, scenario.contents().records());
    }

    @ParameterizedTest
    @MethodSource("cases")
    void wrappedCommitterEndsWithEveryRowOnce(BrokerRelease release, Variant variant) {
        Scenario scenario = STAGES.get(release).scenario(variant, Committers.WRAPPED);
        assertEquals(List.of(), scenario.openAfterwards(), "open transactions");
        long rows = Scenario.TRANSACTIONS * SealedTransactions.ROWS_EACH;
        TopicContents contents = scenario.contents();
        assertEquals(rows, contents.records());
        assertEquals(0, contents.missingIds(rows));
        assertEquals(0, contents.duplicatedIds());
    }
}
