package dev.penstock.flink.sink;

import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.session.DaemonException;
import java.util.stream.Collectors;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;

/**
 * Until when sealed transactions must have been committed. The coordinator aborts a transaction at its timeout, counted
 * from its first row; a commit after that is refused, and Flink goes on without the rows. Before the checkpoint is
 * complete they can still be replayed, so the task must fail in time. The margin is that of the daemon, which looks
 * after a transaction until its seal ({@code kafka/epoch/age.go}). It is also what a restart has for the commit when
 * the checkpoint was complete and only its notice was late.
 *
 * <p>A restored transaction has no deadline here: its age is unknown, and the committer, which starts first, has
 * committed it or has been refused. Used by the task thread only.
 */
final class CommitDeadline {

    private static final long MAX_MARGIN_MILLIS = 30_000;

    private final long timeoutMillis;
    private final long marginMillis;
    private final AlarmClock clock;
    private long firstRow;
    private boolean set;

    /**
     * Takes over {@code clock}.
     *
     * @param timeoutMillis {@code transaction.timeout.ms}; 0 for transactions without one
     */
    CommitDeadline(long timeoutMillis, AlarmClock clock) {
        this.timeoutMillis = timeoutMillis;
        this.marginMillis = Math.min(timeoutMillis / 10, MAX_MARGIN_MILLIS);
        this.clock = clock;
    }

    /** The first row of an epoch comes: its transaction begins now, or a little later. */
    void firstRow() {
        firstRow = clock.millis();
    }

    /** When the first row of the last epoch that has one came, as {@link AlarmClock#millis}. */
    long firstRowAt() {
        return firstRow;
    }

    /** Sees to it that {@code alarm} runs, on a foreign thread, when the oldest transaction is due. */
    void set(OngoingTransactions ongoing, Runnable alarm) {
        OngoingTransactions.Sealed oldest = ongoing.oldest();
        if (set || oldest == null || timeoutMillis == 0) {
            return;
        }
        // One alarm at a time: when its transaction is finished by then, it only sets the next.
        set = true;
        clock.ring(Math.max(0, oldest.firstRow() + usableMillis() - clock.millis()), alarm);
    }

    /**
     * The alarm has run, and {@code ongoing} has been brought up to date since.
     *
     * @throws DaemonException when a transaction is due
     */
    void requireInTime(OngoingTransactions ongoing) throws DaemonException {
        set = false;
        OngoingTransactions.Sealed oldest = ongoing.oldest();
        if (oldest == null) {
            return;
        }
        long age = clock.millis() - oldest.firstRow();
        if (age >= usableMillis()) {
            throw overdue(oldest.transaction(), age, ongoing);
        }
    }

    /** Ends the clock. */
    void close() {
        clock.close();
    }

    private long usableMillis() {
        return timeoutMillis - marginMillis;
    }

    private DaemonException overdue(CheckpointTransaction oldest, long age, OngoingTransactions ongoing) {
        String checkpoints =
                ongoing.list().stream()
                        .map(t -> Long.toString(t.getCheckpointId()))
                        .distinct()
                        .collect(Collectors.joining(", "));
        return new DaemonException(
                ErrorKind.FAIL_EPOCH,
                String.format(
                        "transaction \"%s\" of checkpoint %d is sealed, but %d ms after its first row no checkpoint is"
                                + " complete that commits it (not committed: %s), and the broker aborts it at"
                                + " properties.transaction.timeout.ms = %d, of which %d are left for the commit. The"
                                + " job replays its rows. Raise the property (and the broker's"
                                + " transaction.max.timeout.ms) above execution.checkpointing.interval plus"
                                + " execution.checkpointing.timeout, or let checkpoints complete sooner: see which"
                                + " task was the last one to take its part in that checkpoint",
                        oldest.getTransactionalId(),
                        oldest.getCheckpointId(),
                        age,
                        checkpoints,
                        timeoutMillis,
                        Math.max(0, timeoutMillis - age)));
    }
}
