package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.nexmark.BidSource;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a job does when the only broker is killed while transactions are open. The rows are exact in each case. */
@Timeout(600)
class BrokerFailureTest {
    private static final long ROWS = 24_000;
    private static final long RATE = 4_000;
    private static final String SHORT_LIMITS = ", 'properties.max.block.ms' = '4000'"
            + ", 'properties.request.timeout.ms' = '2000', 'properties.delivery.timeout.ms' = '4000'";
    /** All limits of the job together, and a slow machine. */
    private static final Duration FAILURE_BOUND = Duration.ofSeconds(90);

    private static Bed bed;
    private static BrokerProcess broker;
    private static Topics topics;

    @BeforeAll
    static void open() {
        bed = Bed.open(4);
        broker = BrokerProcess.start();
        topics = new Topics(broker.bootstrapServers());
    }

    @AfterAll
    static void close() {
        bed.close();
        topics.close();
        broker.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @Test
    void killedAndRestartedAtOnceEndsExact() {
        String topic = topics.create("broker-killed", 2);
        FlinkJob job = submit(topic, "exactly-once", "");
        job.awaitCheckpoints(2, Bed.JOB_TIMEOUT);
        broker.process().kill();
        broker.restart();
        requireExact(job, topic);
    }

    /**
     * Two jobs for one outage. Without a committer the writer alone meets the limit. With one the task is most likely
     * in a commit when the broker dies, and then Flink's ten attempts at that come first; the rows are exact either way.
     */
    @Test
    void downForLongerThanTheDeliveryTimeoutGivesABoundedErrorAndLosesNothing() {
        String loose = topics.create("broker-down-alo", 2);
        String exact = topics.create("broker-down", 2);
        FlinkJob looseJob = submit(loose, "at-least-once", SHORT_LIMITS);
        FlinkJob exactJob = submit(exact, "exactly-once", SHORT_LIMITS);
        looseJob.awaitCheckpoints(2, Bed.JOB_TIMEOUT);
        exactJob.awaitCheckpoints(2, Bed.JOB_TIMEOUT);
        broker.process().kill();
        try {
            looseJob.awaitProgress("a failure that names the limit", () -> looseJob.failures().contains(
                    "was not acknowledged within properties.delivery.timeout.ms = 4000"), FAILURE_BOUND);
        } finally {
            broker.restart();
        }
        looseJob.awaitFinished(Bed.JOB_TIMEOUT);
        assertEquals(0, judge().read(loose).missingIds(ROWS), "lost rows");
        requireExact(exactJob, exact);
    }

    private static FlinkJob submit(String topic, String guarantee, String limits) {
        return bed.job(2, 500).explainedBy(broker::diagnosis).submit(Tables.bids(ROWS, RATE)
                + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, guarantee,
                        ", 'properties.bootstrap.servers' = '" + broker.bootstrapServers() + "'" + limits)
                + Tables.copyBids());
    }

    private static void requireExact(FlinkJob job, String topic) {
        job.awaitFinished(Bed.JOB_TIMEOUT);
        judge().judge(judge().read(topic), ROWS).requireExact(ROWS);
        assertEquals(List.of(), topics.openTransactions(topic));
    }

    private static TopicJudge judge() {
        return new TopicJudge(broker.bootstrapServers(), RowId.jsonField("auction", 0), false);
    }
}
