package dev.penstock.integration.committer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.committer.Request.Answer;
import dev.penstock.integration.harness.BrokerRelease;
import dev.penstock.integration.harness.SharedBroker;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A transactional id at the end of its epochs (kafka.md E8, FLINK-40689). With protocol 2 its commit gives it another
 * producer id, and then a replay is refused for a reason that the stock committer does not know: the job would restart
 * for ever. This is why ids are used once, and POOLING is left to the stock sink. Only in {@code make brokers}, because
 * it takes 32,767 initialisations.
 */
@Timeout(900)
class EpochLimitMatrix {
    /** The last epoch that a broker hands out (TransactionMetadata.isEpochExhausted). */
    private static final int LAST_EPOCH = Short.MAX_VALUE - 1;

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(60);

    @Test
    void aReplayBehindTheLastEpochIsRefusedForAnUnknownReason() throws Exception {
        String topic = SharedBroker.topics().create("limit", 1);
        String brokers = SharedBroker.broker().bootstrapServers();
        Properties properties = Commits.patient(brokers);
        // From its third commit on a committer speaks protocol 2 where the cluster does.
        List<KafkaCommittable> warmUp = SealedTransactions.write(properties, topic, 2);
        KafkaCommittable last = sealAtLastEpoch(properties, topic);
        try (Committer<KafkaCommittable> committer = Committers.WRAPPED.open(properties, topic, 0)) {
            for (KafkaCommittable committable : List.of(warmUp.get(0), warmUp.get(1), last)) {
                assertEquals(Answer.OK, Commits.commit(committer, committable));
            }
        }
        Answer replay = BrokerRelease.underTest().hasProtocol2() ? Answer.FAILED_UNKNOWN : Answer.OK;
        try (Committer<KafkaCommittable> committer = Committers.WRAPPED.open(properties, topic, 1)) {
            assertEquals(replay, Commits.commit(committer, last));
        }
        TopicContents contents =
                TopicContents.read(brokers, topic, RowId.jsonField("id", 0), false, READ_TIMEOUT);
        assertEquals(3L * SealedTransactions.ROWS_EACH, contents.records());
        assertEquals(0, contents.duplicatedIds());
    }

    private static KafkaCommittable sealAtLastEpoch(Properties properties, String topic) {
        String id = topic + "-0-3";
        try (FlinkKafkaInternalProducer<byte[], byte[]> producer = new FlinkKafkaInternalProducer<>(properties, id)) {
            do {
                producer.setTransactionId(id);
                producer.initTransactions();
            } while (producer.getEpoch() < LAST_EPOCH);
            return SealedTransactions.seal(producer, topic, 2);
        }
    }
}
