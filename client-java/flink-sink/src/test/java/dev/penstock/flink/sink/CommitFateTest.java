package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalLong;
import java.util.Set;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommitFateTest {
    private static final long PRODUCER = 21;
    private static final short EPOCH = 4;

    /** Each answer with what it means for a commit that may have been tried before, and for one that was not. */
    @ParameterizedTest
    @CsvSource({
        "COMPLETE_COMMIT,     4, COMMITTED, COMMITTED",
        "COMPLETE_COMMIT,     5, COMMITTED, COMMITTED",
        "COMPLETE_COMMIT,     6, UNCLEAR,   LOST",
        "COMPLETE_COMMIT,     3, UNCLEAR,   LOST",
        "PREPARE_COMMIT,      4, COMMITTED, COMMITTED",
        "PREPARE_COMMIT,      5, COMMITTED, COMMITTED",
        "COMPLETE_ABORT,      4, LOST,      LOST",
        "COMPLETE_ABORT,      5, LOST,      LOST",
        "COMPLETE_ABORT,      6, UNCLEAR,   LOST",
        "PREPARE_ABORT,       5, LOST,      LOST",
        "EMPTY,               5, COMMITTED, COMMITTED",
        "EMPTY,               6, UNCLEAR,   LOST",
        "EMPTY,               4, UNCLEAR,   LOST",
        "ONGOING,             4, LOST,      LOST",
        "ONGOING,             6, UNCLEAR,   LOST",
        "PREPARE_EPOCH_FENCE, 5, UNCLEAR,   LOST",
        "UNKNOWN,             4, UNCLEAR,   LOST",
    })
    void theStateAndTheEpochDecide(TransactionState state, int epoch, CommitFate perhapsTried, CommitFate first) {
        assertEquals(perhapsTried, CommitFate.of(committable(), false, answer(state, PRODUCER, epoch)));
        assertEquals(first, CommitFate.of(committable(), true, answer(state, PRODUCER, epoch)));
    }

    @Test
    void anotherProducerTellsNothingOfOurs() {
        TransactionDescription rotated = answer(TransactionState.COMPLETE_COMMIT, PRODUCER + 1, 0);
        assertEquals(CommitFate.UNCLEAR, CommitFate.of(committable(), false, rotated));
        assertEquals(CommitFate.LOST, CommitFate.of(committable(), true, rotated));
    }

    @Test
    void withoutAnAnswerOnlyAFirstAttemptIsClear() {
        assertEquals(CommitFate.UNCLEAR, CommitFate.of(committable(), false, null));
        assertEquals(CommitFate.LOST, CommitFate.of(committable(), true, null));
    }

    private static KafkaCommittable committable() {
        return new KafkaCommittable(PRODUCER, EPOCH, "p-0-7", null);
    }

    private static TransactionDescription answer(TransactionState state, long producer, int epoch) {
        return new TransactionDescription(1, state, producer, epoch, 60_000, OptionalLong.empty(), Set.of());
    }
}
