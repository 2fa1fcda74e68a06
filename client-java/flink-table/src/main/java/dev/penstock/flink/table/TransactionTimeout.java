package dev.penstock.flink.table;

import java.util.Optional;
import java.util.Properties;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * Whether the transactions of an exactly-once sink live long enough for the checkpoints that commit them. The broker
 * aborts a transaction at its timeout, whoever may still want to commit it. That the timeout is not above the broker's
 * maximum is found when the first id is initialised.
 */
final class TransactionTimeout {

    /** What KafkaSinkBuilder sets where the user sets nothing. */
    private static final long DEFAULT_MILLIS = 3_600_000;

    private TransactionTimeout() {}

    /** What is wrong with the timeout at these checkpoints, with all numbers; empty without periodic checkpoints. */
    static Optional<String> warning(Properties producer, CheckpointConfig checkpoints) {
        long interval = checkpoints.getCheckpointInterval();
        if (!checkpoints.isCheckpointingEnabled()) {
            return Optional.empty();
        }
        long timeout = checkpoints.getCheckpointTimeout();
        Object given = producer.get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG);
        long transaction = given == null ? DEFAULT_MILLIS : Long.parseLong(given.toString().trim());
        if (transaction > interval + timeout) {
            return Optional.empty();
        }
        return Optional.of(
                String.format(
                        "properties.transaction.timeout.ms = %d is not above execution.checkpointing.interval = %d ms plus"
                                + " execution.checkpointing.timeout = %d ms: a checkpoint that takes as long as it may ends"
                                + " after its transaction, and the job then fails and replays. Raise the property (and"
                                + " transaction.max.timeout.ms of the broker), or lower the other two.",
                        transaction, interval, timeout));
    }
}
