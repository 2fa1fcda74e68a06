package dev.penstock.flink.sink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.TransactionNamingStrategyImpl;
import org.apache.flink.connector.kafka.sink.internal.TransactionOwnership;
import org.apache.flink.connector.kafka.sink.internal.TransactionalIdFactory;

/**
 * The transactional ids of one writer subtask, by the connector's INCREMENTING strategy: one id for each checkpoint,
 * named after the first owned subtask. Stock and Penstock read each other's states, so nothing here may differ from
 * TransactionNamingStrategyImpl and ExactlyOnceKafkaWriter.
 */
final class TransactionNames {

    private final String prefix;
    private final TransactionOwnership ownership = TransactionNamingStrategyImpl.INCREMENTING.getOwnership();
    private final int[] ownedSubtasks;
    private final int totalOwned;

    TransactionNames(String prefix, int subtask, int parallelism, Collection<KafkaWriterState> recovered) {
        this.prefix = prefix;
        this.ownedSubtasks = ownership.getOwnedSubtaskIds(subtask, parallelism, recovered);
        this.totalOwned = ownership.getTotalNumberOfOwnedSubtasks(subtask, parallelism, recovered);
    }

    String prefix() {
        return prefix;
    }

    int[] ownedSubtasks() {
        return ownedSubtasks;
    }

    int totalOwned() {
        return totalOwned;
    }

    /** The id of the transaction that the checkpoint will commit. */
    String of(long checkpointId) {
        return TransactionalIdFactory.buildTransactionalId(prefix, ownedSubtasks[0], checkpointId);
    }

    /** The checkpoint in an id of {@link #of}; 0 when it is none, as an id of the POOLING strategy could be. */
    static long checkpointOf(String transactionalId) {
        try {
            return Long.parseLong(transactionalId.substring(transactionalId.lastIndexOf('-') + 1));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** The ids of the checkpoints after {@code last} and before {@code next}, in order. */
    List<String> between(long last, long next) {
        List<String> ids = new ArrayList<>();
        for (long checkpoint = last + 1; checkpoint < next; checkpoint++) {
            ids.add(of(checkpoint));
        }
        return ids;
    }

    /** The writer's state: one entry for each owned subtask, the ongoing transactions on the first one only. */
    List<KafkaWriterState> states(Collection<CheckpointTransaction> ongoing) {
        List<KafkaWriterState> states = new ArrayList<>(ownedSubtasks.length);
        for (int i = 0; i < ownedSubtasks.length; i++) {
            states.add(
                    new KafkaWriterState(
                            prefix, ownedSubtasks[i], totalOwned, ownership, i == 0 ? ongoing : List.of()));
        }
        return states;
    }
}
