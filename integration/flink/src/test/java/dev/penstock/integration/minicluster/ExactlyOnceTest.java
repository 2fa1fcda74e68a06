package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicContents;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Exactly-once through failures of the job, and what a job leaves behind in Kafka and in the daemon. */
@Timeout(600)
class ExactlyOnceTest {
    private static final long ROWS = 80_000;
    private static final long RATE = 10_000;
    private static final int FAILURES = 3;

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

    static Stream<Arguments> sinksAndParallelism() {
        return Sink.underTest().flatMap(sink -> Stream.of(Arguments.of(sink, 1), Arguments.of(sink, 2)));
    }

    @ParameterizedTest
    @MethodSource("sinksAndParallelism")
    void everyRowOnceThroughThreeFailures(Sink sink, int parallelism) {
        String topic = Bed.topics().create("exactly-once", 2);
        InducedFailures failures = InducedFailures.named(topic, FAILURES);
        SqlJob job = InducedFailures.breakingBids(bed.job(parallelism, 500), topic, ROWS, RATE);

        Bed.finish(job, Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());

        assertEquals(0, failures.left(), "failures that did not happen");
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }

    @ParameterizedTest
    @MethodSource("dev.penstock.integration.minicluster.Sink#underTest")
    void sameBytesAsStock(Sink sink) {
        String reference = Bed.topics().create("bytes-stock", 1);
        String topic = Bed.topics().create("bytes", 1);
        long rows = 20_000;
        Bed.finish(bed.job(1, 500), Tables.bids(rows, 0)
                + Tables.bidSink(Sink.STOCK.options(null), reference, "exactly-once")
                + Tables.copyBids());
        long from = System.currentTimeMillis();
        Bed.finish(bed.job(1, 500), Tables.bids(rows, 0)
                + Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());

        TopicContents stock = Bed.read(reference, "auction");
        Bed.judge("auction").judge(stock, Bed.read(topic, "auction"), rows, from, System.currentTimeMillis())
                .requireExact(rows);
    }

    @ParameterizedTest
    @MethodSource("dev.penstock.integration.minicluster.Sink#underTest")
    void emptyEpochsGiveNoCommittable(Sink sink) throws Exception {
        String topic = Bed.topics().create("empty-epochs", 1);
        FlinkJob job = bed.job(1, 100).submit(Tables.bids(1_000_000, 1)
                + Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());
        // One row a second and up to ten checkpoints a second: most epochs are empty.
        job.awaitCheckpoints(20, Bed.JOB_TIMEOUT);
        long checkpoints = job.completedCheckpoints();
        // Metrics reach REST with a delay, so the number read may only be too small; zero would prove nothing.
        long[] committables = new long[1];
        job.awaitProgress("a committable",
                () -> (committables[0] = job.vertexMetric("Committer", "totalCommittables")) > 0, Bed.JOB_TIMEOUT);
        job.cancel(Bed.JOB_TIMEOUT);

        assertTrue(committables[0] <= checkpoints / 2, committables[0] + " committables of " + checkpoints
                + " checkpoints");
    }
}
