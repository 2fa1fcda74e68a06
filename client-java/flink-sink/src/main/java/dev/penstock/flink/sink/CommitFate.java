package dev.penstock.flink.sink;

import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.clients.admin.TransactionDescription;

/** What has become of a transaction whose commit the broker refused. */
enum CommitFate {
    /** It had been committed before: a replay after a recovery, its rows are there. */
    COMMITTED,
    /** Its rows will never be visible, and the job goes on without them. */
    LOST,
    /** The coordinator's answer fits both. */
    UNCLEAR;

    /**
     * Judges by what the coordinator says now of the id (kafka.md 9.4, 9.6: seen on brokers 4.2 and 3.9).
     *
     * <p>A commit leaves the producer epoch or raises it by one. An abort at the transaction's timeout raises it by
     * one; somebody who takes the id over raises it by two, and leaves an id without a transaction. That is also how a
     * committed id looks after it was taken over, so then only {@code first} decides.
     *
     * @param committable what was to be committed
     * @param first nobody can have committed it before: it is of this execution of the task, and this was its first
     *     attempt
     * @param now the coordinator's answer; null when it does not know the id or has not answered
     */
    static CommitFate of(KafkaCommittable committable, boolean first, TransactionDescription now) {
        CommitFate otherwise = first ? LOST : UNCLEAR;
        if (now == null || now.producerId() != committable.getProducerId()) {
            return otherwise;
        }
        int raised = now.producerEpoch() - committable.getEpoch();
        switch (now.state()) {
            case PREPARE_COMMIT:
            case COMPLETE_COMMIT:
                return isOwn(raised) ? COMMITTED : otherwise;
            case PREPARE_ABORT:
            case COMPLETE_ABORT:
                return isOwn(raised) ? LOST : otherwise;
            case ONGOING:
                // Still open, and nobody will ask for its commit again: it ends at its timeout.
                return raised == 0 ? LOST : otherwise;
            case EMPTY:
                // What a client leaves behind its second commit with protocol 2, that of a later attempt perhaps.
                return raised == 1 ? COMMITTED : otherwise;
            default:
                return otherwise;
        }
    }

    /** Whether the epoch is still that of the transaction or what its own end has made of it. */
    private static boolean isOwn(int raised) {
        return raised == 0 || raised == 1;
    }
}
