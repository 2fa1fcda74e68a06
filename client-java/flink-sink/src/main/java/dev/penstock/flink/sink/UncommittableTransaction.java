package dev.penstock.flink.sink;

import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.kafka.common.errors.InvalidPidMappingException;

/**
 * The broker knows the transactional id of a committable no more, or under another producer. That does not pass: each
 * restart would restore the same committable and fail at it again, for ever (FLINK-39072). So the job ends, with what a
 * person needs to know.
 */
final class UncommittableTransaction {

    private UncommittableTransaction() {}

    /** A cause that ends the job instead of restarting it, or {@code t} itself when another attempt may do better. */
    static Throwable explain(Throwable t, KafkaCommittable committable) {
        for (Throwable cause = t; cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidPidMappingException) {
                return new SuppressRestartsException(new IllegalStateException(text(committable), t));
            }
        }
        return t;
    }

    private static String text(KafkaCommittable committable) {
        return String.format(
                "Transaction %s of the restored state can never be committed: the broker has forgotten the id since it was"
                        + " last used (transactional.id.expiration.ms of the broker, 7 days by default), or gives it"
                        + " another producer than %d. The checkpoint is older than that, or its transaction was aborted"
                        + " at transaction.timeout.ms. If it was aborted, its rows are lost to this checkpoint: look in"
                        + " the topic for them. Restore from a newer checkpoint, or start the sink without its state"
                        + " (another uid, and 'execution.state-recovery.ignore-unclaimed-state' = 'true') from offsets"
                        + " of your choice. The job is not restarted, because that would end here again.",
                committable.getTransactionalId(), committable.getProducerId());
    }
}
