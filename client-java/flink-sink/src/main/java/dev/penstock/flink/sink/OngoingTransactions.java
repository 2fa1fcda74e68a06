package dev.penstock.flink.sink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sealed transactions that the committer has not reported as finished yet. They go into the writer's state, which is
 * what keeps them from being aborted after a restart. The rules are those of the connector's ProducerPoolImpl ({@code
 * recycleByTransactionId}), without producers. Used by the task thread only.
 */
final class OngoingTransactions {

    private static final Logger LOG = LoggerFactory.getLogger(OngoingTransactions.class);

    /** A transaction that this task sealed, and when its first row came, as {@link AlarmClock#millis}. */
    record Sealed(CheckpointTransaction transaction, long firstRow) {}

    private final Map<String, CheckpointTransaction> byId = new HashMap<>();
    private final TreeSet<CheckpointTransaction> byCheckpoint =
            new TreeSet<>(
                    Comparator.comparingLong(CheckpointTransaction::getCheckpointId)
                            .thenComparing(CheckpointTransaction::getTransactionalId));

    /** By id, in the order of their checkpoints; those of a restored state are not among them. */
    private final Map<String, Sealed> sealedHere = new LinkedHashMap<>();

    /** Starts with the transactions of a restored state: the committer has them, and will report them. */
    OngoingTransactions(Collection<CheckpointTransaction> recovered) {
        recovered.forEach(this::add);
    }

    /** Notes a transaction that was just sealed for the checkpoint and whose first row came then. */
    void add(String transactionalId, long checkpointId, long firstRow) {
        CheckpointTransaction transaction = new CheckpointTransaction(transactionalId, checkpointId);
        add(transaction);
        sealedHere.put(transactionalId, new Sealed(transaction, firstRow));
    }

    private void add(CheckpointTransaction transaction) {
        CheckpointTransaction before = byId.put(transaction.getTransactionalId(), transaction);
        if (before != null) {
            byCheckpoint.remove(before);
        }
        byCheckpoint.add(transaction);
    }

    /**
     * Forgets a finished transaction and every one of an earlier checkpoint: the committer works in the order of
     * checkpoints, so a report for checkpoint C says that all before C are finished, also those whose report was lost
     * in a recovery. Without this the list would grow for ever after a rescale.
     */
    void finished(String transactionalId) {
        CheckpointTransaction transaction = byId.remove(transactionalId);
        if (transaction == null) {
            LOG.info("Unknown transaction {} was finished; this is expected after a rescale.", transactionalId);
            return;
        }
        byCheckpoint.remove(transaction);
        sealedHere.remove(transactionalId);
        while (!byCheckpoint.isEmpty()
                && byCheckpoint.first().getCheckpointId() < transaction.getCheckpointId()) {
            String earlier = byCheckpoint.pollFirst().getTransactionalId();
            byId.remove(earlier);
            sealedHere.remove(earlier);
        }
    }

    /** The one that this task sealed first, null when there is none: of restored ones nobody here knows the age. */
    Sealed oldest() {
        return sealedHere.isEmpty() ? null : sealedHere.values().iterator().next();
    }

    /** A copy, in the order of checkpoints. */
    List<CheckpointTransaction> list() {
        return new ArrayList<>(byCheckpoint);
    }
}
