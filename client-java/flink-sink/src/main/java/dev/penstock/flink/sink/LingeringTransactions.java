package dev.penstock.flink.sink;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.FlinkKafkaInternalProducer;
import org.apache.flink.connector.kafka.sink.internal.TransactionAbortStrategyContextImpl;
import org.apache.flink.connector.kafka.sink.internal.TransactionAbortStrategyImpl;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Aborts the transactions that an earlier attempt left open, by the connector's own PROBING strategy. Stock's and
 * Penstock's transactions have the same names, so each aborts the other's.
 */
final class LingeringTransactions {

    private static final Logger LOG = LoggerFactory.getLogger(LingeringTransactions.class);

    private LingeringTransactions() {}

    /**
     * Probes from the checkpoint after the restored one until an id was never used. Blocks on the brokers, for each id
     * at most {@code max.block.ms}; throws the Kafka client's exception when they do not answer.
     */
    static void abort(
            Properties producerProperties,
            TransactionNames names,
            int subtask,
            int parallelism,
            Collection<KafkaWriterState> recovered,
            long firstCheckpoint) {
        List<String> prefixes = prefixes(names.prefix(), recovered);
        LOG.info("Aborting lingering transactions of {} from checkpoint {}.", prefixes, firstCheckpoint);
        try (Prober prober = new Prober(producerProperties)) {
            TransactionAbortStrategyImpl.PROBING.abortTransactions(
                    new TransactionAbortStrategyContextImpl(
                            () -> unused("topics"),
                            subtask,
                            parallelism,
                            names.ownedSubtasks(),
                            names.totalOwned(),
                            prefixes,
                            firstCheckpoint,
                            prober::abort,
                            () -> unused("admin client"),
                            precommitted(recovered)));
        } catch (KafkaException e) {
            throw ClientRefusal.explain(e, names.prefix(), producerProperties);
        }
    }

    private static List<String> prefixes(String current, Collection<KafkaWriterState> recovered) {
        List<String> prefixes = new ArrayList<>(List.of(current));
        recovered.stream()
                .findFirst()
                .map(KafkaWriterState::getTransactionalIdPrefix)
                .filter(before -> !before.equals(current))
                .ifPresent(
                        before -> {
                            LOG.warn("The transactional id prefix has changed from {} to {}.", before, current);
                            prefixes.add(before);
                        });
        return prefixes;
    }

    private static Set<String> precommitted(Collection<KafkaWriterState> recovered) {
        return recovered.stream()
                .flatMap(state -> state.getPrecommittedTransactionalIds().stream())
                .map(CheckpointTransaction::getTransactionalId)
                .collect(Collectors.toSet());
    }

    private static <T> T unused(String what) {
        throw new IllegalStateException("PROBING asked for the " + what + ", which only LISTING needs.");
    }

    /** One producer that takes over id after id; taking over is what aborts. */
    private static final class Prober implements AutoCloseable {
        private final Properties properties;
        private FlinkKafkaInternalProducer<byte[], byte[]> producer;

        Prober(Properties properties) {
            this.properties = properties;
        }

        /** Returns the producer epoch; 0 says that nobody had used the id before. */
        int abort(String transactionalId) {
            if (producer == null) {
                producer = new FlinkKafkaInternalProducer<>(properties, transactionalId);
            } else {
                producer.setTransactionId(transactionalId);
            }
            producer.initTransactions();
            return producer.getEpoch();
        }

        @Override
        public void close() {
            if (producer != null) {
                producer.close();
            }
        }
    }
}
