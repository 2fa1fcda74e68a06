package dev.penstock.integration.committer;

import dev.penstock.integration.committer.Request.Answer;
import java.util.List;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Single commits with a broker that is slow but there. */
final class Commits {
    private static final int ATTEMPTS = 5;

    private Commits() {}

    /** Properties whose limits a loaded machine keeps. */
    static Properties patient(String bootstrapServers) {
        Properties properties = SealedTransactions.properties(bootstrapServers);
        properties.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, "60000");
        properties.setProperty(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "30000");
        properties.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "60000");
        return properties;
    }

    /** Commits, again while the committer asks for it, and returns its last answer. */
    static Answer commit(Committer<KafkaCommittable> committer, KafkaCommittable committable) throws Exception {
        Request request = new Request(committable);
        for (int i = 0; i < ATTEMPTS; i++) {
            committer.commit(List.of(request.again()));
            if (request.answer() != Answer.RETRY_LATER) {
                break;
            }
        }
        return request.answer();
    }
}
