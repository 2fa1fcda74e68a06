package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.BrokerRelease;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A savepoint whose transactions the broker has forgotten (kafka.md A11): stock Flink restarts for ever. */
@Timeout(600)
class ExpiredIdTest {
    private static final long ROWS = 1_000_000;
    private static final long RATE = 500;
    private static final Duration FORGOTTEN = Duration.ofSeconds(120);

    private static Bed bed;
    private static BrokerProcess broker;
    private static Topics topics;

    @BeforeAll
    static void open() {
        bed = Bed.open(1);
        broker = BrokerProcess.start(BrokerRelease.underTest(), List.of(), Map.of("transactional.id.expiration.ms", "3000",
                "transaction.remove.expired.transaction.cleanup.interval.ms", "1000",
                "producer.id.expiration.ms", "3000"));
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
    void endsTheJobAndSaysWhatToDo() throws Exception {
        String topic = topics.create("expired", 1);
        Path savepoints = Workspace.temporary("savepoints");
        try {
            FlinkJob job = submit(bed.job(1, 3_600_000), topic);
            job.awaitProgress("an open transaction", () -> !topics.openTransactions(topic).isEmpty(), Bed.JOB_TIMEOUT);
            String savepoint = job.savepoint(savepoints, Bed.JOB_TIMEOUT);
            job.cancel(Bed.JOB_TIMEOUT);
            Deadline.in(FORGOTTEN).await("the broker to forget the transaction", () -> topics.ids(topic).isEmpty(),
                    () -> ": " + topics.ids(topic));

            FlinkJob restored = submit(bed.job(1, 500).set("execution.state-recovery.path", savepoint), topic);
            assertEquals("FAILED", restored.awaitEnd(Bed.JOB_TIMEOUT));
            assertEquals(0, restored.restarts());
            String failures = restored.failures();
            assertTrue(failures.contains("of the restored state can never be committed"), failures);
        } finally {
            Workspace.delete(savepoints);
        }
    }

    private static FlinkJob submit(SqlJob job, String topic) {
        return job.explainedBy(broker::diagnosis).submit(Tables.bids(ROWS, RATE)
                + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(bed.daemon()), topic, "exactly-once",
                        ", 'properties.bootstrap.servers' = '" + broker.bootstrapServers() + "'"
                                + ", 'properties.transaction.timeout.ms' = '20000'")
                + Tables.copyBids());
    }
}
