package dev.penstock.integration.committer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.committer.Request.Answer;
import dev.penstock.integration.harness.BrokerRelease;
import dev.penstock.integration.harness.SharedBroker;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many transactions through one committer, and all of them once more through another, as after a failure between a
 * commit and the next checkpoint (kafka.md 2.3, E1).
 */
@Timeout(180)
class HandOffTest {
    private static final int TRANSACTIONS = 20;
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

    @Test
    void everyRowOnceAndEveryReplayHarmless() throws Exception {
        String topic = SharedBroker.topics().create("hand-off", 1);
        Properties properties = Commits.patient(SharedBroker.broker().bootstrapServers());
        List<KafkaCommittable> sealed = SealedTransactions.write(properties, topic, TRANSACTIONS);
        assertEquals(0, rows(topic), "rows before the commit");

        CommitMetrics first = new CommitMetrics();
        assertEquals(List.of(), refused(Committers.WRAPPED.open(properties, topic, 0, 0, first), sealed));
        requireEveryRowOnce(topic);

        CommitMetrics again = new CommitMetrics();
        List<KafkaCommittable> refused =
                refused(Committers.WRAPPED.open(properties, topic, 1, TRANSACTIONS, again), sealed);
        requireEveryRowOnce(topic);
        if (BrokerRelease.underTest().hasProtocol2()) {
            assertTrue(refused.size() > TRANSACTIONS / 2, "nothing was refused, so nothing was shown: " + refused);
        } else {
            assertEquals(List.of(), refused, "with protocol 1 a replay succeeds");
        }
        assertEquals(refused.size(), again.count("commitReplaysHarmless"));
        assertEquals(0, again.count("commitsLost") + again.count("commitsUnclear"));
        assertEquals(0, first.count("commitsLost") + first.count("commitsUnclear") + first.count("commitReplaysHarmless"));
    }

    private static List<KafkaCommittable> refused(Committer<KafkaCommittable> committer, List<KafkaCommittable> sealed)
            throws Exception {
        try (committer) {
            List<KafkaCommittable> refused = new ArrayList<>();
            for (KafkaCommittable committable : sealed) {
                if (Commits.commit(committer, committable) != Answer.OK) {
                    refused.add(committable);
                }
            }
            return refused;
        }
    }

    private static void requireEveryRowOnce(String topic) {
        long rows = TRANSACTIONS * SealedTransactions.ROWS_EACH;
        TopicContents contents = contents(topic);
        assertEquals(rows, contents.records());
        assertEquals(0, contents.missingIds(rows));
        assertEquals(0, contents.duplicatedIds());
    }

    private static long rows(String topic) {
        return contents(topic).records();
    }

    private static TopicContents contents(String topic) {
        String brokers = SharedBroker.broker().bootstrapServers();
        return TopicContents.read(brokers, topic, RowId.jsonField("id", 0), false, READ_TIMEOUT);
    }
}
