package dev.penstock.integration.committer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.penstock.integration.committer.Request.Answer;
import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.clients.admin.TransactionState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A broker that does not answer during a commit (kafka.md 9.5, variants V1, V2, V4). With the bare committer of stock
 * Flink the next transactions stay open although nothing is wrong any more; with Penstock's every row arrives once.
 * The producers' limits are short here (SealedTransactions), so that a stopped broker is a timeout.
 */
@Timeout(240)
class CommitterWedgeTest {
    private static final int TRANSACTIONS = 3;
    private static final int RETRIES = 2;
    private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(60);

    private static BrokerProcess broker;
    private static Topics topics;

    /** When the broker is woken and what is committed next. */
    enum Variant {
        /** Resumed; the timed-out transaction ends by the client's own retry; only then comes the next one. */
        V1,
        /** Resumed, and the next transaction is tried at once. */
        V2,
        /** The same transaction is retried while the broker is still stopped, as Flink's loop does, then resumed. */
        V4
    }

    @BeforeAll
    static void open() {
        broker = BrokerProcess.start();
        topics = new Topics(broker.bootstrapServers());
    }

    @AfterAll
    static void close() {
        topics.close();
        broker.close();
    }

    @ParameterizedTest
    @EnumSource
    void bareCommitterLeavesTransactionsOpen(Variant variant) throws Exception {
        Run run = new Run(variant, Committers.BARE);
        assertFalse(run.openAfterwards().isEmpty(), "the bare committer has ended every transaction in " + variant
                + ": if the client library has become better, the wrapper may go");
        assertNotEquals(TRANSACTIONS * SealedTransactions.ROWS_EACH, run.contents().records());
    }

    @ParameterizedTest
    @EnumSource
    void wrappedCommitterEndsWithEveryRowOnce(Variant variant) throws Exception {
        Run run = new Run(variant, Committers.WRAPPED);
        assertEquals(List.of(), run.openAfterwards(), "open transactions");
        long rows = TRANSACTIONS * SealedTransactions.ROWS_EACH;
        TopicContents contents = run.contents();
        assertEquals(rows, contents.records());
        assertEquals(0, contents.missingIds(rows));
        assertEquals(0, contents.duplicatedIds());
    }

    /** One scenario, played to its end in the constructor. */
    private static final class Run {
        private final String topic;
        private final List<KafkaCommittable> sealed;

        Run(Variant variant, Committers kind) throws Exception {
            topic = topics.create("wedge-" + variant.name().toLowerCase(Locale.ROOT), 1);
            Properties properties = SealedTransactions.properties(broker.bootstrapServers());
            sealed = SealedTransactions.write(properties, topic, TRANSACTIONS);
            Committer<KafkaCommittable> committer = kind.open(properties, topic, 0);
            try {
                Request first = new Request(sealed.get(0));
                commitWhileStopped(variant, committer, first);
                if (variant == Variant.V1 && kind == Committers.BARE) {
                    // The wrapped committer has given up the client that would end it in the background.
                    awaitEnded(first.getCommittable());
                }
                List<Request> next = new ArrayList<>();
                for (KafkaCommittable committable : sealed.subList(1, TRANSACTIONS)) {
                    next.add(new Request(committable));
                }
                for (Request request : next) {
                    commitWithRetries(committer, request);
                }
                if (first.answer() == Answer.RETRY_LATER) {
                    commitWithRetries(committer, first);
                }
            } finally {
                committer.close();
            }
            for (KafkaCommittable committable : sealed) {
                Deadline.in(COMMIT_TIMEOUT).await("the markers of " + committable, () -> !isEnding(committable));
            }
        }

        private void commitWhileStopped(Variant variant, Committer<KafkaCommittable> committer, Request first)
                throws Exception {
            broker.process().pause();
            try {
                committer.commit(List.of(first.again()));
                assertEquals(Answer.RETRY_LATER, first.answer(), "the stopped broker must make the commit time out");
                if (variant == Variant.V4) {
                    committer.commit(List.of(first.again()));
                }
            } finally {
                broker.process().resume();
            }
            if (variant == Variant.V4) {
                commitWithRetries(committer, first);
            }
        }

        /** As Flink's committer operator, which retries at once; its ten attempts would only take longer. */
        private static void commitWithRetries(Committer<KafkaCommittable> committer, Request request) throws Exception {
            for (int i = 0; i <= RETRIES; i++) {
                committer.commit(List.of(request.again()));
                if (request.answer() != Answer.RETRY_LATER) {
                    return;
                }
            }
        }

        private static void awaitEnded(KafkaCommittable committable) {
            Deadline.in(COMMIT_TIMEOUT).await("the end of " + committable,
                    () -> state(committable) != TransactionState.ONGOING && !isEnding(committable));
        }

        private static TransactionState state(KafkaCommittable committable) {
            return topics.transactionState(committable.getTransactionalId());
        }

        /** The decision is made and answered, its markers are still being written. */
        private static boolean isEnding(KafkaCommittable committable) {
            TransactionState state = state(committable);
            return state == TransactionState.PREPARE_COMMIT || state == TransactionState.PREPARE_ABORT;
        }

        /** The transactions about which nobody has decided. */
        List<String> openAfterwards() {
            return sealed.stream().filter(c -> state(c) == TransactionState.ONGOING)
                    .map(KafkaCommittable::getTransactionalId).toList();
        }

        TopicContents contents() {
            return TopicContents.read(
                    broker.bootstrapServers(), topic, RowId.jsonField("id", 0), false, COMMIT_TIMEOUT);
        }
    }
}
