package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.ErrorKind;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;
import org.apache.flink.connector.kafka.sink.internal.TransactionOwnership;
import org.apache.flink.connector.kafka.sink.internal.WritableBackchannel;
import org.junit.jupiter.api.Test;

/** The epochs of the exactly-once writer, compared with the connector's ExactlyOnceKafkaWriter (kafka.md 1.2). */
class ExactlyOncePenstockWriterTest {

    @Test
    void firstCheckpointSealsCommitsAndBeginsTheNext() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            assertEquals(List.of("abort lingering", "begin 1 p-0-1", "warm p-0-2", "begun 1"), fixture.calls());

            writer.write(row(1, "a"), null);
            writer.write(row(2, "b"), null);
            writer.flush(false);
            assertEquals(List.of("submit last 2", "seal 1 rows 2 of 2"), fixture.calls());
            assertEquals(List.of(new KafkaCommittable(101, (short) 3, "p-0-1", null)), writer.prepareCommit());

            List<KafkaWriterState> state = writer.snapshotState(1);
            assertEquals(List.of(state("p", new CheckpointTransaction("p-0-1", 1))), state);
            assertEquals(List.of("begin 2 p-0-2", "warm p-0-3"), fixture.calls());
        }
    }

    @Test
    void theCheckpointDoesNotWaitForTheNextEpochButItsFirstRowDoes() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            checkpointWithOneRow(writer, 1);
            fixture.calls();
            writer.write(row(2, "b"), null);
            assertEquals(List.of("begun 2"), fixture.calls());
            writer.write(row(3, "c"), null);
            writer.flush(false);
            assertEquals(List.of("submit last 2", "seal 2 rows 2 of 2"), fixture.calls());
        }
    }

    @Test
    void aFlushWithoutRowsWaitsForItsEpochAndCloseDoesNot() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            checkpointWithOneRow(writer, 1);
            fixture.calls();
            writer.flush(false);
            assertEquals(List.of("begun 2", "seal 2 rows 0 of 0"), fixture.calls());
            writer.prepareCommit();
            writer.snapshotState(2);
            fixture.calls();
            writer.close();
            assertEquals(List.of("close"), fixture.calls());
        }
    }

    @Test
    void emptyEpochGivesNoCommittableAndIsNotOngoing() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            fixture.calls();
            writer.flush(false);
            assertEquals(List.of("seal 1 rows 0 of 0"), fixture.calls());
            assertTrue(writer.prepareCommit().isEmpty());
            assertEquals(List.of(state("p")), writer.snapshotState(1));
        }
    }

    @Test
    void skippedCheckpointsAreFilledInOrder() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 7, List.of());
            assertEquals(List.of("abort lingering", "begin 8 p-0-8", "warm p-0-9", "begun 8"), fixture.calls());
            writer.flush(false);
            writer.prepareCommit();
            fixture.calls();
            writer.snapshotState(10);
            assertEquals(List.of("begin 11 p-0-11 after [p-0-9, p-0-10]", "warm p-0-12"), fixture.calls());
        }
    }

    @Test
    void withoutWarmPoolNothingIsWarmed() throws Exception {
        WriterSettings s = WriterFixture.settings(10);
        WriterSettings cold =
                new WriterSettings(
                        s.fallback(), s.socketDirectory(), s.connectTimeout(), s.linger(), 10, false);
        try (WriterFixture fixture = new WriterFixture(cold)) {
            fixture.exactlyOnce("p", 0, List.of());
            assertEquals(List.of("abort lingering", "begin 1 p-0-1", "begun 1"), fixture.calls());
        }
    }

    @Test
    void ongoingTransactionsStayInTheStateUntilReported() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            WritableBackchannel<TransactionFinished> committer = fixture.committer("p");
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            checkpointWithOneRow(writer, 1);
            assertEquals(
                    List.of(
                            state("p", new CheckpointTransaction("p-0-1", 1), new CheckpointTransaction("p-0-2", 2))),
                    checkpointWithOneRow(writer, 2));

            committer.send(TransactionFinished.successful("p-0-1"));
            assertEquals(
                    List.of(
                            state("p", new CheckpointTransaction("p-0-2", 2), new CheckpointTransaction("p-0-3", 3))),
                    checkpointWithOneRow(writer, 3));

            // Checkpoint 3 is reported, 2 never was: it is finished all the same.
            committer.send(TransactionFinished.erroneously("p-0-3"));
            committer.send(TransactionFinished.successful("not-ours-0-9"));
            assertEquals(
                    List.of(state("p", new CheckpointTransaction("p-0-4", 4))), checkpointWithOneRow(writer, 4));
        }
    }

    @Test
    void recoveredTransactionsAreKeptAndReportedOnTheFirstOwnedSubtask() throws Exception {
        KafkaWriterState recovered = state("p", new CheckpointTransaction("p-0-4", 4));
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 4, List.of(recovered));
            writer.flush(false);
            writer.prepareCommit();
            assertEquals(
                    List.of(state("p", new CheckpointTransaction("p-0-4", 4))), writer.snapshotState(5));
        }
    }

    @Test
    void endOfInputSealsAndBeginsNothingMore() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            writer.flush(true);
            assertEquals(1, writer.prepareCommit().size());
            fixture.calls();
            assertEquals(List.of(state("p", new CheckpointTransaction("p-0-1", 1))), writer.snapshotState(1));
            writer.close();
            assertEquals(List.of("close"), fixture.calls());
        }
    }

    @Test
    void batchModeNeverSnapshotsAndCloseLeavesTheSealedTransactionAlone() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            writer.flush(true);
            writer.prepareCommit();
            fixture.calls();
            writer.close();
            writer.close();
            assertEquals(List.of("close"), fixture.calls());
        }
    }

    @Test
    void closeAbortsAnUnsealedEpochWithRows() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            fixture.calls();
            writer.close();
            assertEquals(List.of("abort 1", "close"), fixture.calls());
            assertEquals(0, fixture.daemon.lent);
        }
    }

    @Test
    void rowsAfterAFailedCheckpointGoIntoTheNextName() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            writer.flush(false);
            writer.prepareCommit();
            fixture.calls();
            // Checkpoint 1 fails before snapshotState; the job goes on to checkpoint 3.
            writer.write(row(2, "b"), null);
            writer.flush(false);
            assertEquals(
                    List.of("begin 2 p-0-2", "warm p-0-3", "begun 2", "submit last 1", "seal 2 rows 1 of 1"),
                    fixture.calls());
            writer.prepareCommit();
            assertEquals(
                    List.of(
                            state("p", new CheckpointTransaction("p-0-1", 1), new CheckpointTransaction("p-0-2", 2))),
                    writer.snapshotState(3));
            assertEquals(List.of("begin 4 p-0-4 after [p-0-3]", "warm p-0-5"), fixture.calls());
        }
    }

    @Test
    void snapshotWithUnflushedRowsIsRefused() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> writer.snapshotState(1));
            assertTrue(e.getMessage().contains("would lose rows"), e.getMessage());
        }
    }

    @Test
    void snapshotOfARestoredEndedTaskKeepsTheOpenEpoch() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 3, List.of());
            fixture.calls();
            assertEquals(List.of(state("p")), writer.snapshotState(4));
            assertEquals(List.of(), fixture.calls());
        }
    }

    @Test
    void aSealWithAnotherRowCountFailsTheCheckpoint() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            fixture.daemon.sealedRowsError = -1;
            assertThrows(IllegalStateException.class, () -> writer.flush(false));
            assertTrue(writer.prepareCommit().isEmpty());
        }
    }

    @Test
    void aFailureSurfacesOnWriteFlushAndMailbox() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            fixture.daemon.fail(ErrorKind.FAIL_EPOCH, "message too large");
            IOException e = assertThrows(IOException.class, () -> writer.write(row(2, "b"), null));
            assertTrue(e.getMessage().contains("message too large"), e.getMessage());
            assertThrows(IOException.class, () -> writer.flush(false));
            fixture.mailbox.runAll();
            fixture.calls();
            writer.close();
            assertEquals(List.of("close"), fixture.calls());
        }
        try (WriterFixture fixture = new WriterFixture()) {
            fixture.exactlyOnce("p", 0, List.of());
            fixture.daemon.fail(ErrorKind.FAIL_EPOCH, "stream broke");
            assertThrows(IOException.class, fixture.mailbox::runAll);
        }
    }

    @Test
    void closeThrowsNoFailureBecauseThatWouldEndTheTaskManager() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            ExactlyOncePenstockWriter writer = fixture.exactlyOnce("p", 0, List.of());
            writer.write(row(1, "a"), null);
            fixture.daemon.fail(ErrorKind.FAIL_EPOCH, "stream broke");
            fixture.calls();
            writer.close();
            assertEquals(List.of("close"), fixture.calls());
            fixture.mailbox.runAll();
        }
    }

    @Test
    void closeFreesThePrefixForTheNextWriter() throws Exception {
        for (int attempt = 0; attempt < 2; attempt++) {
            try (WriterFixture fixture = new WriterFixture()) {
                ExactlyOncePenstockWriter writer = fixture.exactlyOnce("same", 0, List.of());
                writer.close();
                assertFalse(fixture.calls().isEmpty());
            }
        }
    }

    private static List<KafkaWriterState> checkpointWithOneRow(ExactlyOncePenstockWriter writer, long checkpoint)
            throws Exception {
        writer.write(row(checkpoint, "x"), null);
        writer.flush(false);
        Collection<KafkaCommittable> committables = writer.prepareCommit();
        assertEquals(1, committables.size());
        return writer.snapshotState(checkpoint);
    }

    private static KafkaWriterState state(String prefix, CheckpointTransaction... ongoing) {
        return new KafkaWriterState(prefix, 0, 1, TransactionOwnership.IMPLICIT_BY_SUBTASK_ID, List.of(ongoing));
    }
}
