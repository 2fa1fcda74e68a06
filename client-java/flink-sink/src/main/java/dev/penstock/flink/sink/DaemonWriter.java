package dev.penstock.flink.sink;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.WriterProgress;
import dev.penstock.session.DaemonException;
import java.time.Duration;
import java.util.List;

/**
 * What a sink writer needs from the daemon: the calls of {@link dev.penstock.session.WriterStream}, behind an interface
 * so that the epoch logic can be tested without a daemon. All calls come from the task thread, except that the action
 * given to {@link #onFailure} runs on a thread of the transport. A {@link DaemonException} means that the writer is of
 * no further use.
 */
interface DaemonWriter {

    /** Waits for a free extent of at least {@code minBytes} bytes; the caller owns it until submit or giveBack. */
    Extent nextExtent(int minBytes, Duration timeout) throws DaemonException;

    /** Tells the ids of schemas, before the first batch that needs them. */
    void defineSchemas(DefineSchemas ids) throws DaemonException;

    /** Hands a finished batch over; the extent belongs to the daemon from here on. */
    void submit(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException;

    /** Like {@link #submit}, for the batch behind which seal or flush follows at once. */
    void submitLast(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException;

    /** Returns an extent that holds no batch. */
    void giveBack(Extent extent);

    /** Asks for the producer of a later epoch; only ids that were never sealed may be named. */
    void warm(String transactionalId) throws DaemonException;

    /** Opens an epoch; {@code gaps} are the ids of skipped checkpoints, which are initialised and left empty. */
    EpochBegun begin(long epochId, String transactionalId, List<String> gaps, Duration timeout) throws DaemonException;

    /** Opens an epoch without waiting for it; {@link #awaitBegun} has to follow before seal, flush or abort. */
    void startBegin(long epochId, String transactionalId, List<String> gaps, Duration timeout) throws DaemonException;

    /** Waits until the epoch of startBegin is open, as long as the timeout that startBegin got allows. */
    EpochBegun awaitBegun() throws DaemonException;

    /** Ends an epoch: everything is acknowledged and its transaction belongs to the committer. */
    EpochSealed seal(long epochId, long rows, Duration timeout) throws DaemonException;

    /** Proves that everything so far is acknowledged, without ending the epoch. */
    EpochFlushed flush(long epochId, long rows, Duration timeout) throws DaemonException;

    /** Aborts the transaction of an unsealed epoch. */
    void abort(long epochId, Duration timeout) throws DaemonException;

    /** Throws the first asynchronous failure, if there is one; cheap enough for every row. */
    void checkFailure() throws DaemonException;

    /** Runs {@code action} once, on a foreign thread, when the writer fails. */
    void onFailure(Runnable action);

    /** The daemon's running totals for this writer. */
    WriterProgress progress();

    /** The memory of this process as the daemon reported it last; shared by all writers, cheap. */
    AccountReport account();

    /** Bytes of shared memory in which this process's batches lie. */
    long arrowBytes();

    /** Bytes of this process's batches that the daemon has not taken yet. */
    long parkedBytes();

    /** Bytes of this process's batches that the daemon reads. */
    long pinnedBytes();

    /** How often this writer was denied memory, whether or not some came later. */
    long denials();

    /** Nanoseconds spent in waiting for extents and credit. */
    long waitNanos();

    /** Batches handed over. */
    long batches();

    /** The largest batch that the daemon takes, bytes. */
    long maxBatchBytes();

    /**
     * Ends the stream within {@code timeout}; the daemon aborts an unsealed epoch by itself. Idempotent, never throws.
     */
    void close(Duration timeout);
}
