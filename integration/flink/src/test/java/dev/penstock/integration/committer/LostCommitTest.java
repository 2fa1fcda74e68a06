package dev.penstock.integration.committer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.committer.Request.Answer;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.LogCapture;
import dev.penstock.integration.harness.SharedBroker;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commits that come too late or meet a thief: the job goes on without the rows, so it must be told (kafka.md E3). */
@Timeout(120)
class LostCommitTest {
    private static final Duration WAIT = Duration.ofSeconds(60);

    private final CommitMetrics metrics = new CommitMetrics();
    private final Properties properties = Commits.patient(SharedBroker.broker().bootstrapServers());
    private String topic;

    @BeforeEach
    void createTopic() {
        topic = SharedBroker.topics().create("lost", 1);
    }

    @Test
    void aTimedOutTransactionIsReportedByTheTaskThatWroteIt() throws Exception {
        requireLoss(timedOut(), 0);
    }

    @Test
    void aTimedOutTransactionIsReportedAfterARecovery() throws Exception {
        requireLoss(timedOut(), 1);
    }

    @Test
    void aTransactionalIdThatWasTakenOverIsReported() throws Exception {
        KafkaCommittable sealed = SealedTransactions.write(properties, topic, 1).get(0);
        takeOver(sealed);
        requireLoss(sealed, 0);
    }

    /** Its commit may have succeeded before the id was taken over: that looks the same. */
    @Test
    void aRecoveredIdThatWasTakenOverIsReportedAsUnclear() throws Exception {
        KafkaCommittable sealed = SealedTransactions.write(properties, topic, 1).get(0);
        takeOver(sealed);
        String log = commit(sealed, 1);
        assertEquals(1, metrics.count("commitsUnclear"), log);
        assertEquals(0, metrics.count("commitsLost") + metrics.count("commitReplaysHarmless"), log);
        assertTrue(log.contains("WARN dev.penstock.flink.sink.RefusedCommits - Cannot tell whether transaction "
                + sealed.getTransactionalId()), log);
    }

    private KafkaCommittable timedOut() {
        properties.setProperty(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "2000");
        KafkaCommittable sealed = SealedTransactions.write(properties, topic, 1).get(0);
        Deadline.in(WAIT).await("the transaction's timeout", () -> SharedBroker.topics()
                .transactionState(sealed.getTransactionalId()) == TransactionState.COMPLETE_ABORT);
        return sealed;
    }

    private void takeOver(KafkaCommittable sealed) {
        try (FlinkKafkaInternalProducer<byte[], byte[]> thief =
                new FlinkKafkaInternalProducer<>(properties, sealed.getTransactionalId())) {
            thief.initTransactions();
        }
    }

    /** Commits in a task that was restored from this checkpoint, and requires count and log of the loss. */
    private void requireLoss(KafkaCommittable sealed, long restored) throws Exception {
        String log = commit(sealed, restored);
        assertEquals(1, metrics.count("commitsLost"), log);
        assertEquals(0, metrics.count("commitsUnclear") + metrics.count("commitReplaysHarmless"), log);
        for (String word : List.of("ERROR dev.penstock.flink.sink.RefusedCommits - The rows of transaction "
                + sealed.getTransactionalId() + " of topic " + topic + " are lost", "properties.transaction.timeout.ms")) {
            assertTrue(log.contains(word), "no \"" + word + "\" in: " + log);
        }
        assertEquals(0, TopicContents.read(SharedBroker.broker().bootstrapServers(), topic,
                RowId.jsonField("id", 0), false, WAIT).records());
    }

    private String commit(KafkaCommittable sealed, long restored) throws Exception {
        try (LogCapture log = LogCapture.start();
                Committer<KafkaCommittable> committer =
                        Committers.WRAPPED.open(properties, topic, 0, restored, metrics)) {
            assertEquals(Answer.FAILED_KNOWN, Commits.commit(committer, sealed));
            return log.text();
        }
    }
}
