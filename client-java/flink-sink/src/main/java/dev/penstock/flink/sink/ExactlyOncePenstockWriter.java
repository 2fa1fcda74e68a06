package dev.penstock.flink.sink;

import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.ReadableBackchannel;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exactly-once writer: one epoch, and so one transaction, for each checkpoint. It does what the connector's
 * ExactlyOnceKafkaWriter does, in the same order and with the same names, but the transaction is filled by the daemon.
 *
 * <pre>
 *   initialize         abort lingering, begin(restored + 1), warm(restored + 2), wait until it has begun
 *   write              wait until the epoch has begun; rows into it
 *   flush              seal: every row is acknowledged, or this throws
 *   prepareCommit      the sealed identity, or nothing when the epoch had no rows
 *   snapshotState(cp)  drain the back-channel, list ongoing (the sealed one too), begin(cp + 1), warm(cp + 2), without waiting
 *   close              abort an unsealed epoch that has rows; leave a sealed one alone
 * </pre>
 *
 * <p>What is sealed is watched until the back-channel reports it ({@link CommitDeadline}), also after the end of input.
 * In BATCH mode nobody can: the writer's task has ended when the committer's begins.
 *
 * <p>The transaction of the next epoch opens while the checkpoint goes on: nothing of it is in the snapshot but its
 * number, and the first row, or the next flush, waits for it. Stock opens it inside of the checkpoint.
 *
 * <p>After the end of input no new epoch is begun, because nobody would seal it. In BATCH mode snapshotState is never
 * called.
 */
final class ExactlyOncePenstockWriter extends PenstockWriter {

    private static final Logger LOG = LoggerFactory.getLogger(ExactlyOncePenstockWriter.class);

    private final TransactionNames names;
    private final ReadableBackchannel<TransactionFinished> backchannel;
    private final OngoingTransactions ongoing;
    private final CommitDeadline deadline;
    private final boolean warmPool;
    private final Runnable abortLingering;

    /** The checkpoint of the youngest epoch that was begun. */
    private long lastBegun;

    private boolean open;

    /** The daemon has been asked to open the epoch, and its answer has not been awaited. */
    private boolean beginning;

    private boolean endOfInput;
    private boolean backchannelClosed;

    /** The answer to the last seal, until prepareCommit has taken it. */
    private EpochSealed sealed;

    /**
     * Takes over {@code parts}, the back-channel and the deadline.
     *
     * @param restoredCheckpoint the checkpoint that the job was restored from, 0 for a fresh job
     * @param recovered transactions of the restored state that the committer still has to finish
     * @param abortLingering aborts what earlier attempts left open
     */
    ExactlyOncePenstockWriter(
            Parts parts,
            TransactionNames names,
            ReadableBackchannel<TransactionFinished> backchannel,
            long restoredCheckpoint,
            Collection<CheckpointTransaction> recovered,
            CommitDeadline deadline,
            boolean warmPool,
            Runnable abortLingering) {
        super(parts);
        this.names = names;
        this.backchannel = backchannel;
        this.lastBegun = restoredCheckpoint;
        this.ongoing = new OngoingTransactions(recovered);
        this.deadline = deadline;
        this.warmPool = warmPool;
        this.abortLingering = abortLingering;
    }

    @Override
    void initialize() throws IOException {
        super.initialize();
        // Before the daemon touches any id: taking over an id aborts whatever is open under it.
        abortLingering.run();
        startBegin(lastBegun + 1);
        awaitBegun();
    }

    /**
     * Normally the epoch is open already. A checkpoint that failed between prepareCommit and snapshotState leaves none;
     * the next checkpoint has a higher number, so the next name is free.
     */
    @Override
    void ensureEpoch() throws DaemonException {
        if (!open) {
            startBegin(lastBegun + 1);
        }
        if (beginning) {
            awaitBegun();
        }
        if (batcher.epochRows() == 0) {
            deadline.firstRow();
        }
    }

    @Override
    public void flush(boolean end) throws IOException {
        endOfInput |= end;
        try {
            daemon.checkFailure();
            if (open) {
                if (beginning) {
                    awaitBegun();
                }
                batcher.submitAtBarrier();
                FaultPoint.BEFORE_SEAL.hit();
                seal();
                FaultPoint.AFTER_SEAL.hit();
            }
            daemon.checkFailure();
        } catch (DaemonException e) {
            throw failure(e);
        }
    }

    @Override
    public Collection<KafkaCommittable> prepareCommit() {
        EpochSealed done = sealed;
        sealed = null;
        if (done == null || done.getRows() == 0) {
            return List.of();
        }
        KafkaCommittable committable =
                new KafkaCommittable(
                        done.getProducerId(), (short) done.getProducerEpoch(), done.getTransactionalId(), null);
        LOG.debug("Prepared {}.", committable);
        return List.of(committable);
    }

    @Override
    public List<KafkaWriterState> snapshotState(long checkpointId) throws IOException {
        FaultPoint.IN_SNAPSHOT.hit();
        drainBackchannel();
        List<KafkaWriterState> states = names.states(ongoing.list());
        if (open && batcher.epochRows() > 0) {
            throw new IllegalStateException(
                    "Checkpoint " + checkpointId + " would lose rows: they were written after the last flush.");
        }
        if (!endOfInput && !open) {
            try {
                startBegin(checkpointId + 1);
            } catch (DaemonException e) {
                throw failure(e);
            }
        }
        return states;
    }

    @Override
    void abandon() {
        if (!open || batcher.epochRows() == 0) {
            return;
        }
        try {
            daemon.abort(lastBegun, deadlines.close());
        } catch (DaemonException e) {
            // Best effort: the next attempt aborts it by PROBING.
            LOG.debug("Could not abort transaction {}.", names.of(lastBegun), e);
        }
        open = false;
    }

    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            deadline.close();
            closeBackchannel();
        }
    }

    private void closeBackchannel() {
        if (!backchannelClosed) {
            backchannelClosed = true;
            backchannel.close();
        }
    }

    private void startBegin(long checkpointId) throws DaemonException {
        List<String> gaps = names.between(lastBegun, checkpointId);
        daemon.startBegin(checkpointId, names.of(checkpointId), gaps, deadlines.begin(gaps.size()));
        lastBegun = checkpointId;
        open = true;
        beginning = true;
        batcher.startEpoch();
        if (warmPool) {
            daemon.warm(names.of(checkpointId + 1));
        }
    }

    private void awaitBegun() throws DaemonException {
        beginning = false;
        metrics.begun(daemon.awaitBegun().getWarm());
    }

    private void seal() throws DaemonException {
        long rows = batcher.epochRows();
        long start = System.nanoTime();
        EpochSealed answer = daemon.seal(lastBegun, rows, deadlines.seal());
        metrics.flushed(System.nanoTime() - start);
        metrics.syncBytes(daemon);
        open = false;
        checkSealed(answer, rows);
        sealed = answer;
        if (rows > 0) {
            ongoing.add(answer.getTransactionalId(), lastBegun, deadline.firstRowAt());
            watchCommits();
        }
    }

    private void watchCommits() {
        deadline.set(ongoing, () -> inMailbox(this::requireCommitsInTime, "Look for commits that are overdue"));
    }

    private void requireCommitsInTime() throws IOException {
        drainBackchannel();
        try {
            deadline.requireInTime(ongoing);
        } catch (DaemonException e) {
            throw failure(e);
        }
        watchCommits();
    }

    /** The daemon has proven this; a committable for anything else would lose rows, so look once more. */
    private void checkSealed(EpochSealed answer, long rows) {
        String id = names.of(lastBegun);
        if (answer.getRows() != rows || (rows > 0 && !answer.getTransactionalId().equals(id))) {
            throw new IllegalStateException(
                    String.format(
                            "penstockd sealed transaction %s with %d rows where the writer has %s with %d rows.",
                            answer.getTransactionalId(), answer.getRows(), id, rows));
        }
    }

    private void drainBackchannel() {
        TransactionFinished finished;
        while ((finished = backchannel.poll()) != null) {
            ongoing.finished(finished.getTransactionId());
        }
    }
}
