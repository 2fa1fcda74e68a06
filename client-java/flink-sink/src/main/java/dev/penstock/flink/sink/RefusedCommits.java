package dev.penstock.flink.sink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells commits that were refused because they had been done before, which is usual after a recovery, from those whose
 * rows are lost. To Flink both are failures with a known reason, after which the job goes on, and the stock committer
 * logs both alike (kafka.md 2.3). Asks the coordinator only when there is something to ask. Used by the task thread
 * only.
 */
final class RefusedCommits {

    private static final Logger LOG = LoggerFactory.getLogger(RefusedCommits.class);

    private record Refusal(KafkaCommittable committable, boolean first, Throwable reason) {}

    private final CoordinatorView coordinators;
    private final String topics;
    private final long restoredCheckpoint;
    private final Counter replays;
    private final Counter lost;
    private final Counter unclear;
    private final List<Refusal> refusals = new ArrayList<>();

    /**
     * Registers the counters {@code commitReplaysHarmless}, {@code commitsLost} and {@code commitsUnclear}.
     *
     * @param topics where the rows go, for messages
     * @param restoredCheckpoint the checkpoint that the task was restored from, 0 for a fresh job
     * @param metrics the committer's
     */
    RefusedCommits(CoordinatorView coordinators, String topics, long restoredCheckpoint, MetricGroup metrics) {
        this.coordinators = coordinators;
        this.topics = topics;
        this.restoredCheckpoint = restoredCheckpoint;
        MetricGroup group = metrics.addGroup(WriterMetrics.GROUP);
        this.replays = group.counter("commitReplaysHarmless");
        this.lost = group.counter("commitsLost");
        this.unclear = group.counter("commitsUnclear");
    }

    /**
     * Notes a commit that was refused for good.
     *
     * @param retries how often it had been tried before
     */
    void add(KafkaCommittable committable, int retries, Throwable reason) {
        boolean recovered = TransactionNames.checkpointOf(committable.getTransactionalId()) <= restoredCheckpoint;
        refusals.add(new Refusal(committable, retries == 0 && !recovered, reason));
    }

    /** Finds out about everything noted since the last call, logs and counts it. */
    void report() throws InterruptedException {
        if (refusals.isEmpty()) {
            return;
        }
        List<Refusal> asked = List.copyOf(refusals);
        refusals.clear();
        Map<String, TransactionDescription> answers =
                coordinators.describe(asked.stream().map(r -> r.committable().getTransactionalId()).toList());
        for (Refusal refusal : asked) {
            report(refusal, answers.get(refusal.committable().getTransactionalId()));
        }
    }

    private void report(Refusal refusal, TransactionDescription now) {
        KafkaCommittable committable = refusal.committable();
        String id = committable.getTransactionalId();
        String facts = facts(refusal, now);
        switch (CommitFate.of(committable, refusal.first(), now)) {
            case COMMITTED -> {
                replays.inc();
                LOG.info(
                        "Transaction {} of topic {} had been committed before; nothing is lost, whatever the committer"
                                + " says. {}",
                        id, topics, facts);
            }
            case LOST -> {
                lost.inc();
                LOG.error(
                        "The rows of transaction {} of topic {} are lost: the broker has given the transaction up"
                                + " before it was committed. Restore the job from a checkpoint or savepoint older than"
                                + " {}, or write these rows again. To prevent it, let properties.transaction.timeout.ms"
                                + " (and the broker's transaction.max.timeout.ms) be longer than the checkpoint"
                                + " interval with the longest downtime of the job, and let no other job use this"
                                + " sink.transactional-id-prefix. {}",
                        id, topics, TransactionNames.checkpointOf(id), facts);
            }
            case UNCLEAR -> {
                unclear.inc();
                LOG.warn(
                        "Cannot tell whether transaction {} of topic {} had been committed before or is lost: look for"
                                + " the rows of checkpoint {} in the topic. {}",
                        id, topics, TransactionNames.checkpointOf(id), facts);
            }
        }
    }

    private static String facts(Refusal refusal, TransactionDescription now) {
        KafkaCommittable committable = refusal.committable();
        return String.format(
                "Facts: producer id %d, epoch %d, %s; the commit was refused with %s; the coordinator says %s.",
                committable.getProducerId(),
                committable.getEpoch(),
                refusal.first() ? "never tried before" : "perhaps tried before",
                refusal.reason(),
                now == null
                        ? "nothing"
                        : now.state() + ", producer id " + now.producerId() + ", epoch " + now.producerEpoch());
    }
}
