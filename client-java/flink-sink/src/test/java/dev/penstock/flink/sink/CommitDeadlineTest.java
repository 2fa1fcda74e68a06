package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;
import org.apache.flink.connector.kafka.sink.internal.TransactionOwnership;
import org.apache.flink.connector.kafka.sink.internal.WritableBackchannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transactions that are sealed in time and whose checkpoint does not complete before their timeout (kafka.md A10). */
class CommitDeadlineTest {

    private static final long TIMEOUT = 10_000;
    private static final long USABLE = 9_000;

    private WriterFixture fixture;
    private WritableBackchannel<TransactionFinished> committer;

    @BeforeEach
    void open() {
        fixture = new WriterFixture();
        fixture.transactionTimeoutMillis = TIMEOUT;
        committer = fixture.committer("p");
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    void failsBeforeTheTimeoutWithAllNumbers() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 6, List.of());
        writer.write(row(1, "a"), null);
        // The age counts from the first row, not from the seal.
        fixture.timers.advance(4000);
        checkpoint(writer, 7);
        writer.write(row(2, "b"), null);
        checkpoint(writer, 8);
        advance(USABLE - 4000 - 1);
        String message = assertThrows(IOException.class, () -> advance(1)).getMessage();
        for (String part :
                List.of(
                        "table cat.db.orders",
                        "transaction \"p-0-7\" of checkpoint 7",
                        "9000 ms after its first row",
                        "not committed: 7, 8",
                        "properties.transaction.timeout.ms = 10000, of which 1000 are left",
                        "execution.checkpointing.interval plus execution.checkpointing.timeout")) {
            assertTrue(message.contains(part), message);
        }
    }

    @Test
    void aReportedCommitIsInTime() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writeAndCheckpoint(writer, 1);
        advance(5000);
        writeAndCheckpoint(writer, 2);
        committer.send(TransactionFinished.successful("p-0-1"));
        advance(USABLE - 1);
        String message = assertThrows(IOException.class, () -> advance(1)).getMessage();
        assertTrue(message.contains("transaction \"p-0-2\"") && message.contains("not committed: 2)"), message);
    }

    /** A commit of a later checkpoint finishes the earlier ones, too. */
    @Test
    void aSubsumedTransactionIsInTime() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writeAndCheckpoint(writer, 1);
        writeAndCheckpoint(writer, 2);
        committer.send(TransactionFinished.successful("p-0-2"));
        advance(10 * TIMEOUT);
        assertEquals(0, fixture.timers.pending());
    }

    /** What the committer could not commit is over, too; the job has been told. */
    @Test
    void aRefusedCommitIsNotFailedAgain() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writeAndCheckpoint(writer, 1);
        committer.send(TransactionFinished.erroneously("p-0-1"));
        advance(10 * TIMEOUT);
    }

    /** A checkpoint that failed leaves its transaction to the next one. */
    @Test
    void theTransactionOfAFailedCheckpointIsWatched() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writer.write(row(1, "a"), null);
        writer.flush(false);
        writer.prepareCommit();
        assertThrows(IOException.class, () -> advance(USABLE));
    }

    @Test
    void emptyEpochsHaveNoDeadline() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        checkpoint(writer, 1);
        assertEquals(0, fixture.timers.pending());
    }

    /** The age of a transaction is that of its own first row, not of the epoch's begin. */
    @Test
    void anIdleEpochIsYoung() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        advance(5 * TIMEOUT);
        writeAndCheckpoint(writer, 1);
        advance(USABLE - 1);
        assertThrows(IOException.class, () -> advance(1));
    }

    /** The committer has committed them before the writer starts, or was refused. */
    @Test
    void restoredTransactionsHaveNoDeadline() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 4, List.of(recovered("p-0-4", 4)));
        advance(10 * TIMEOUT);
        assertEquals(0, fixture.timers.pending());
        // Not even when they are older than one that has a deadline.
        writeAndCheckpoint(writer, 5);
        String message = assertThrows(IOException.class, () -> advance(USABLE)).getMessage();
        assertTrue(message.contains("transaction \"p-0-5\""), message);
    }

    /** Flink ends an operator's timers with its input; the final checkpoint may be long in coming. */
    @Test
    void theFinalCheckpointIsWatchedAfterTheEndOfInput() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writer.write(row(1, "a"), null);
        writer.flush(true);
        writer.prepareCommit();
        fixture.timers.quiesce();
        writer.snapshotState(1);
        advance(USABLE - 1);
        assertThrows(IOException.class, () -> advance(1));
    }

    /** In BATCH mode the task ends before the commit, as every task does after its final commit. */
    @Test
    void aClosedWriterFailsNothing() throws Exception {
        ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
        writer.write(row(1, "a"), null);
        writer.flush(true);
        writer.prepareCommit();
        // The mail is on its way already.
        fixture.timers.advance(USABLE);
        writer.close();
        fixture.mailbox.runAll();
        assertEquals(0, fixture.timers.pending());
    }

    @Test
    void withoutATimeoutNothingIsWatched() throws Exception {
        fixture.transactionTimeoutMillis = 0;
        writeAndCheckpoint(fixture.exactlyOnce("p", 0, List.of()), 1);
        advance(10 * TIMEOUT);
        assertEquals(0, fixture.timers.pending());
    }

    /** The rule of the daemon's kafka/epoch/age.go: a tenth, at most 30 s. */
    @Test
    void theMarginIsThatOfTheDaemon() throws Exception {
        fixture.transactionTimeoutMillis = 3_600_000;
        writeAndCheckpoint(fixture.exactlyOnce("p", 0, List.of()), 1);
        advance(3_569_999);
        String message = assertThrows(IOException.class, () -> advance(1)).getMessage();
        assertTrue(message.contains("= 3600000, of which 30000 are left"), message);
    }

    @Test
    void theRealClockRingsUntilItIsClosed() throws Exception {
        CountDownLatch rang = new CountDownLatch(1);
        ThreadAlarmClock clock = new ThreadAlarmClock("penstock-test-alarm");
        long start = clock.millis();
        clock.ring(20, rang::countDown);
        clock.ring(3_600_000, rang::countDown);
        assertTrue(rang.await(30, TimeUnit.SECONDS));
        assertTrue(clock.millis() - start >= 20);
        clock.close();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (isAlive("penstock-test-alarm")) {
            assertFalse(System.nanoTime() > end, "the alarm of an hour keeps the thread");
            Thread.sleep(5);
        }
    }

    private static boolean isAlive(String thread) {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(t -> t.getName().equals(thread));
    }

    private void advance(long millis) throws Exception {
        fixture.timers.advance(millis);
        fixture.mailbox.runAll();
    }

    private static void writeAndCheckpoint(ExactlyOncePenstockWriter writer, long checkpoint) throws Exception {
        writer.write(row(checkpoint, "x"), null);
        checkpoint(writer, checkpoint);
    }

    private static void checkpoint(ExactlyOncePenstockWriter writer, long checkpoint) throws Exception {
        writer.flush(false);
        writer.prepareCommit();
        writer.snapshotState(checkpoint);
    }

    private static KafkaWriterState recovered(String id, long checkpoint) {
        return new KafkaWriterState(
                "p", 0, 1, TransactionOwnership.IMPLICIT_BY_SUBTASK_ID,
                List.of(new CheckpointTransaction(id, checkpoint)));
    }
}
