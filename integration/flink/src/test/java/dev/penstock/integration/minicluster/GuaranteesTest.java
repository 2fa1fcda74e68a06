package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.nexmark.BidSource;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The three delivery guarantees on bounded input, in streaming and in batch mode. */
@Timeout(600)
class GuaranteesTest {
    private static final long ROWS = 20_000;
    private static final List<String> GUARANTEES = List.of("exactly-once", "at-least-once", "none");

    /** No batch and no record leaves by itself within a test, so that only a flush can bring the last rows out. */
    private static final String LAZY = ", 'properties.linger.ms' = '60000'";
    private static final String LAZY_BATCHES = ", 'penstock.linger' = '60 s'";

    private static Bed bed;

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

    private static String lazySink(Sink sink, String topic, String guarantee) {
        return Tables.sink(BidSource.COLUMNS, sink.options(bed.daemonOf(sink)), topic, guarantee,
                sink.needsDaemon() ? LAZY + LAZY_BATCHES : LAZY);
    }

    static Stream<Arguments> cases() {
        return Sink.underTest().flatMap(sink -> GUARANTEES.stream().flatMap(guarantee ->
                Stream.of("STREAMING", "BATCH").map(mode -> Arguments.of(sink, guarantee, mode))));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void boundedInputArrivesWhole(Sink sink, String guarantee, String mode) {
        String topic = Bed.topics().create("bounded", 2);
        long answered = bed.daemon().status().counter("line_answers");
        // Batch mode has no checkpoints; its commit comes with the end of input alone.
        SqlJob job = bed.job(2, 500).set("execution.runtime-mode", mode);
        Bed.finish(job, Tables.bids(ROWS, 0)
                + lazySink(sink, topic, guarantee) + Tables.copyBids());

        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
        assertEquals(sink.needsDaemon(), bed.daemon().status().counter("line_answers") > answered,
                "the end of input took the short way");
    }

    @ParameterizedTest
    @MethodSource("dev.penstock.integration.minicluster.Sink#underTest")
    void atLeastOnceLosesNothingThroughFailures(Sink sink) throws Exception {
        String topic = Bed.topics().create("at-least-once", 2);
        InducedFailures failures = InducedFailures.named(topic, 2);
        SqlJob job = InducedFailures.breakingBids(bed.job(2, 500), topic, ROWS, 8_000);
        FlinkJob ended = Bed.finish(job, lazySink(sink, topic, "at-least-once") + Tables.copyBids());

        TopicContents contents = Bed.read(topic, "auction");
        assertEquals(0, failures.left(), "failures that did not happen");
        assertEquals(2, ended.restarts());
        assertEquals(0, contents.missingIds(ROWS), "lost rows");
    }
}
