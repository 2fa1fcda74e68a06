package dev.penstock.integration.committer;

import dev.penstock.integration.committer.Request.Answer;
import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.clients.admin.TransactionState;

/**
 * One committer and three sealed transactions of one topic, through a stop of the broker (kafka.md 9.5). The steps are
 * played one after the other by whoever stops the broker; scenarios of one broker share its stop.
 */
final class Scenario implements AutoCloseable {
    static final int TRANSACTIONS = 3;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** When the broker is woken and what is committed next. */
    enum Variant {
        /** Resumed; the timed-out transaction ends by the client's own retry; only then comes the next one. */
        V1,
        /** Resumed, and the next transaction is tried at once. */
        V2,
        /** The same transaction is retried while the broker is still stopped, as Flink's loop does, then resumed. */
        V4
    }

    private final Variant variant;
    private final Committers kind;
    private final BrokerProcess broker;
    private final Topics topics;
    private final String topic;
    private final List<KafkaCommittable> sealed;
    private final Committer<KafkaCommittable> committer;
    private final Request first;

    /** Seals the transactions and opens the committer. */
    Scenario(Variant variant, Committers kind, BrokerProcess broker, Topics topics) throws Exception {
        this.variant = variant;
        this.kind = kind;
        this.broker = broker;
        this.topics = topics;
        topic = topics.create("wedge-" + variant.name().toLowerCase(Locale.ROOT), 1);
        Properties properties = SealedTransactions.properties(broker.bootstrapServers());
        sealed = SealedTransactions.write(properties, topic, TRANSACTIONS);
        committer = kind.open(properties, topic, 0);
        first = new Request(sealed.get(0));
    }

    Variant variant() {
        return variant;
    }

    Committers committer() {
        return kind;
    }

    /** The commit that times out, because the broker is stopped. */
    void commitWhileStopped() throws Exception {
        committer.commit(List.of(first.again()));
        if (first.answer() != Answer.RETRY_LATER) {
            throw new AssertionError("the stopped broker must make the commit time out, not " + first.answer());
        }
        if (variant == Variant.V4) {
            committer.commit(List.of(first.again()));
        }
    }

    /** Everything after the broker was woken, until it has decided all that was committed. */
    void commitAwake() throws Exception {
        if (variant == Variant.V4) {
            commitWithRetries(first);
        }
        if (variant == Variant.V1 && kind == Committers.BARE) {
            // The wrapped committer has given up the client that would end it in the background.
            awaitEnded(first.getCommittable());
        }
        for (KafkaCommittable committable : sealed.subList(1, TRANSACTIONS)) {
            commitWithRetries(new Request(committable));
        }
        if (first.answer() == Answer.RETRY_LATER) {
            commitWithRetries(first);
        }
        for (KafkaCommittable committable : sealed) {
            Deadline.in(TIMEOUT).await("the markers of " + committable, () -> !isEnding(committable));
        }
    }

    /** The transactions about which nobody has decided. */
    List<String> openAfterwards() {
        return sealed.stream().filter(c -> state(c) == TransactionState.ONGOING)
                .map(KafkaCommittable::getTransactionalId).toList();
    }

    /** What readers of committed rows see. */
    TopicContents contents() {
        return TopicContents.read(broker.bootstrapServers(), topic, RowId.jsonField("id", 0), false, TIMEOUT);
    }

    @Override
    public void close() throws Exception {
        committer.close();
    }

    /** As Flink's committer operator, which retries at once; its ten attempts would only take longer. */
    private void commitWithRetries(Request request) throws Exception {
        for (int i = 0; i < kind.attempts(); i++) {
            committer.commit(List.of(request.again()));
            if (request.answer() != Answer.RETRY_LATER) {
                return;
            }
        }
    }

    private void awaitEnded(KafkaCommittable committable) {
        Deadline.in(TIMEOUT).await("the end of " + committable,
                () -> state(committable) != TransactionState.ONGOING && !isEnding(committable));
    }

    private TransactionState state(KafkaCommittable committable) {
        return topics.transactionState(committable.getTransactionalId());
    }

    /** The decision is made and answered, its markers are still being written. */
    private boolean isEnding(KafkaCommittable committable) {
        TransactionState state = state(committable);
        return state == TransactionState.PREPARE_COMMIT || state == TransactionState.PREPARE_ABORT;
    }
}
