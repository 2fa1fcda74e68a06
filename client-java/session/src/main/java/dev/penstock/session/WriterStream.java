package dev.penstock.session;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.AbortEpoch;
import dev.penstock.proto.v1.BeginEpoch;
import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.FlushEpoch;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.SealEpoch;
import dev.penstock.proto.v1.SinkServiceGrpc;
import dev.penstock.proto.v1.SubmitBatch;
import dev.penstock.proto.v1.WarmEpoch;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteEvent.EventCase;
import dev.penstock.proto.v1.WriteRequest;
import dev.penstock.proto.v1.WriterOpened;
import dev.penstock.proto.v1.WriterProgress;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One sink writer's bidirectional stream to the daemon ({@code sink.proto}), and the extents that it fills. Opened by
 * {@link DaemonSession#openWriter}.
 *
 * <p>The usual order is {@link #begin} (or {@link #startBegin} and {@link #awaitBegun}), then {@link #nextExtent} and
 * {@link #submit} for each batch, then {@link #seal} (or {@link #flush} without transactions), then begin again.
 *
 * <p>Threads: one task thread calls everything that is not said to be callable by others; events arrive on a gRPC
 * thread. Waiting never exceeds the timeout that was given and ends early with kind RETRY when the task thread is
 * interrupted. After the first failure every call but {@link #giveBack} and {@link #close} throws that failure. After
 * close no submitted extent may be touched; one that is still being filled stays mapped, see {@link
 * DaemonSession#leakedSegments}.
 */
public final class WriterStream implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WriterStream.class);

    private static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final DaemonSession session;
    private final WriterEvents events;
    private final AtomicBoolean closed = new AtomicBoolean();
    private WriterOpened opened;
    private CreditWindow window;
    /** The short way of barriers; null without. */
    private WriterLine line;
    /** Requests sent on the stream. */
    private long sent;
    private long epochId;
    /** The begin whose answer nobody has awaited yet, or null. */
    private Beginning beginning;
    // Written by the task thread only; volatile because metric reporters read them.
    private volatile long batches;
    private volatile long waitNanos;
    private volatile long denials;

    private record Beginning(String step, Deadline deadline) {}

    WriterStream(DaemonSession session) {
        this.session = session;
        this.events = new WriterEvents(session::suspect, session::reported);
    }

    /** Starts the stream and waits until the daemon has accepted the writer; called once, by the session. */
    void open(OpenWriter request, Duration timeout) throws DaemonException {
        Deadline deadline = Deadline.in(timeout);
        SinkServiceGrpc.newStub(session.channel()).write(events);
        WriteEvent event = ask(WriteRequest.newBuilder().setOpen(request).build(), EventCase.OPENED,
                "opening the writer for topic " + request.getTopic(), deadline);
        opened = event.getOpened();
        window = session.newWindow(opened.getCreditBytes());
        events.markOpened();
        if (opened.getLine()) {
            attachLine(deadline);
        }
    }

    /** Without a line barriers only take a little longer, so that a fault is no reason to fail. */
    private void attachLine(Deadline deadline) throws DaemonException {
        try {
            line = session.attachLine(opened.getWriterId(), deadline);
            events.wakeOnFailure(line::wake);
        } catch (DaemonException e) {
            throw e;
        } catch (IOException e) {
            LOG.warn("Writer {} has no line to {}; its checkpoints take a little longer: {}", writerId(), session.peer(),
                    e.getMessage());
        }
    }

    /** The daemon's number of this writer; it appears in the daemon's status and log. */
    public long writerId() {
        return opened.getWriterId();
    }

    /** Versions of the encoder and the engine that do the work, for the log. */
    public String engine() {
        return opened.getEncoder() + ", " + opened.getEngine();
    }

    /**
     * An extent to write the next batch into. Waits while the credit is used up, no slot is free, or memory is denied:
     * batches in flight, other writers and other processes may give some back. That time counts as {@link
     * #waitNanos()}.
     *
     * @param minBytes size that the batch needs at least; the extent may be larger, and is smaller the slower the broker
     *     is: a batch that is handed over is in front of the next barrier
     * @param timeout how long to wait
     * @return an extent that must be submitted or given back, as the same object
     * @throws NativeMemoryLimitException with the daemon's text when memory was denied until the timeout
     * @throws DaemonException BAD_REQUEST when no extent can be that large; FAIL_EPOCH when nothing became free in time,
     *     which fails the writer: whoever closes it then need not ask such a daemon for an abort first; the writer's
     *     failure
     */
    public Extent nextExtent(int minBytes, Duration timeout) throws DaemonException {
        requireUsable();
        int capacity = session.pool().capacityFor(minBytes);
        window.collect();
        window.limit(events.progress().getCreditBytes());
        int bytes = bytesFor(minBytes, capacity);
        Extent ready = window.admits(bytes) ? bind(session.pool().tryTake(capacity), bytes) : null;
        if (ready != null) {
            return ready;
        }
        long start = System.nanoTime();
        try {
            return waitForExtent(minBytes, capacity, Deadline.in(timeout));
        } finally {
            waitNanos += System.nanoTime() - start;
        }
    }

    /**
     * Hands a filled extent to the daemon: parks its slot and says so on the stream. Does not wait.
     *
     * @param extent from {@link #nextExtent}; not to be touched any more, also when this fails
     * @param bodyBytes size of the batch, as in its header
     * @param schemaTag the tag of the schema, as in the batch's header
     * @param rows number of rows, as in the batch's header
     * @param flags flags of the batch, as in its header
     */
    public void submit(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        send(parkNext(extent, bodyBytes, schemaTag, rows, flags).build());
    }

    /** Like {@link #submit}, for a batch behind which {@link #seal} or {@link #flush} follows at once: it goes the same way. */
    public void submitLast(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        WriteRequest.Builder request = parkNext(extent, bodyBytes, schemaTag, rows, flags);
        if (line == null) {
            send(request.build());
        } else {
            sendOnLine(request);
        }
    }

    private WriteRequest.Builder parkNext(Extent extent, int bodyBytes, int schemaTag, int rows, int flags)
            throws DaemonException {
        long sequence = batches + 1;
        CreditWindow.Parked batch = null;
        try {
            requireUsable();
            batch = park(extent, bodyBytes, schemaTag, rows, flags, sequence);
        } finally {
            if (batch == null) {
                // The caller has let go of it, so nobody else would.
                window.giveBack(extent);
            }
        }
        batches = sequence;
        return WriteRequest.newBuilder()
                .setSubmit(SubmitBatch.newBuilder()
                        .setSlot(batch.slot())
                        .setGeneration((int) batch.generation())
                        .setSequence(sequence)
                        .setEpochId(epochId));
    }

    private CreditWindow.Parked park(Extent extent, int bodyBytes, int schemaTag, int rows, int flags, long sequence)
            throws DaemonException {
        try {
            return window.park(extent, bodyBytes, schemaTag, rows, flags, sequence);
        } catch (IllegalStateException e) {
            throw new DaemonException(ErrorKind.FAIL_EPOCH, "the daemon has ended this session: " + e.getMessage(), e);
        }
    }

    /**
     * Gives an extent back that will not be submitted; nobody may touch it any more. Does not block, and works after a
     * failure and after the close.
     */
    public void giveBack(Extent extent) {
        window.giveBack(extent);
    }

    /**
     * Tells the ids that a schema registry gave, before the first batch whose format needs one. Does not wait; a failure
     * comes as the writer's failure.
     */
    public void defineSchemas(DefineSchemas ids) throws DaemonException {
        requireUsable();
        send(WriteRequest.newBuilder().setSchemas(ids).build());
    }

    /**
     * Asks the daemon to prepare the producer of a later epoch. Does not wait; a failure comes as the writer's failure.
     */
    public void warm(String transactionalId) throws DaemonException {
        requireUsable();
        send(WriteRequest.newBuilder().setWarm(WarmEpoch.newBuilder().setTransactionalId(transactionalId)).build());
    }

    /**
     * Begins an epoch and waits until its transaction is open.
     *
     * @param epochId number of the epoch, greater than any before
     * @param transactionalId its transactional id; empty without transactions
     * @param gaps ids of skipped checkpoints, in order (BeginEpoch.gap_transactional_ids)
     */
    public EpochBegun begin(long epochId, String transactionalId, List<String> gaps, Duration timeout)
            throws DaemonException {
        startBegin(epochId, transactionalId, gaps, timeout);
        return awaitBegun();
    }

    /**
     * Begins an epoch as {@link #begin} does, but does not wait. {@link #awaitBegun} must follow before anything else that
     * waits for an answer.
     *
     * @param timeout how long the answer may take, from now on
     */
    public void startBegin(long epochId, String transactionalId, List<String> gaps, Duration timeout)
            throws DaemonException {
        Deadline deadline = Deadline.in(timeout);
        request(WriteRequest.newBuilder()
                .setBegin(BeginEpoch.newBuilder()
                        .setEpochId(epochId)
                        .setTransactionalId(transactionalId)
                        .addAllGapTransactionalIds(gaps))
                .build(), EventCase.BEGUN);
        String step = "begin of epoch " + epochId + (transactionalId.isEmpty() ? "" : " as " + transactionalId);
        this.epochId = epochId;
        beginning = new Beginning(step, deadline);
    }

    /** Waits until the transaction of the epoch that {@link #startBegin} has begun is open. */
    public EpochBegun awaitBegun() throws DaemonException {
        Beginning begun = beginning;
        if (begun == null) {
            throw new IllegalStateException("no epoch is beginning");
        }
        beginning = null;
        EpochBegun answer = events.await(begun.step, session.peer(), begun.deadline).getBegun();
        requireSameEpoch(begun.step, epochId, answer.getEpochId());
        return answer;
    }

    /**
     * Ends an epoch and waits for the proof that every row is in its transaction, which stays open for the committer.
     *
     * @param rows rows that were submitted since begin; the daemon compares
     */
    public EpochSealed seal(long epochId, long rows, Duration timeout) throws DaemonException {
        WriteRequest.Builder request = WriteRequest.newBuilder()
                .setSeal(SealEpoch.newBuilder().setEpochId(epochId).setRows(rows));
        String step = "seal of epoch " + epochId + " with " + rows + " rows";
        EpochSealed sealed = askAtBarrier(request, EventCase.SEALED, step, Deadline.in(timeout)).getSealed();
        requireSameEpoch(step, epochId, sealed.getEpochId());
        return sealed;
    }

    /**
     * Waits for the proof that every row so far is acknowledged, without ending the epoch.
     *
     * @param rows rows that were submitted since begin; the daemon compares
     */
    public EpochFlushed flush(long epochId, long rows, Duration timeout) throws DaemonException {
        WriteRequest.Builder request = WriteRequest.newBuilder()
                .setFlush(FlushEpoch.newBuilder().setEpochId(epochId).setRows(rows));
        String step = "flush of epoch " + epochId + " with " + rows + " rows";
        EpochFlushed flushed = askAtBarrier(request, EventCase.FLUSHED, step, Deadline.in(timeout)).getFlushed();
        requireSameEpoch(step, epochId, flushed.getEpochId());
        return flushed;
    }

    /** Throws the rows of an epoch that was not sealed away, and waits until that is done. */
    public void abort(long epochId, Duration timeout) throws DaemonException {
        WriteRequest request = WriteRequest.newBuilder().setAbort(AbortEpoch.newBuilder().setEpochId(epochId)).build();
        String step = "abort of epoch " + epochId;
        WriteEvent event = ask(request, EventCase.ABORTED, step, Deadline.in(timeout));
        requireSameEpoch(step, epochId, event.getAborted().getEpochId());
    }

    /** Throws the first asynchronous failure, if there is one. Cheap: one volatile read. Any thread. */
    public void checkFailure() throws DaemonException {
        events.check();
    }

    /**
     * Sets who is told, once, that the writer has failed: on a gRPC thread or the session's keeper, or at once on this
     * thread when it has failed already. The listener must not block; it typically wakes the task's mailbox.
     */
    public void onFailure(Runnable listener) {
        events.listen(listener);
    }

    /** The daemon's latest running totals of this writer. Any thread. */
    public WriterProgress progress() {
        return events.progress();
    }

    /** Time that the task thread spent in {@link #nextExtent} waiting for credit, slots or memory, ns. Any thread. */
    public long waitNanos() {
        return waitNanos;
    }

    /** How often the daemon denied this writer memory, whether or not some came later. Any thread. */
    public long denials() {
        return denials;
    }

    /** Batches submitted so far. Any thread. */
    public long batches() {
        return batches;
    }

    /** Closes with a timeout of 10 s. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_TIMEOUT);
    }

    /**
     * Ends the stream and waits until the daemon has released what it holds for this writer: it aborts an epoch that
     * was not sealed and leaves sealed ones alone. When that takes longer, or the task is interrupted, the stream is
     * cancelled, which the daemon takes as the same wish. Extents of batches that are still parked stay reserved until
     * their slots are FREE. Idempotent; throws nothing.
     */
    public void close(Duration timeout) {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        events.markClosing();
        try {
            endCall(Deadline.in(timeout));
        } finally {
            if (line != null) {
                line.close();
            }
            if (window != null) {
                window.close();
            }
            session.closed(this);
        }
    }

    /** Fails the stream from outside: the session broke. Any thread. */
    void fail(DaemonException reason) {
        events.fail(reason);
    }

    private void endCall(Deadline deadline) {
        var requests = events.requests();
        if (requests == null) {
            return;
        }
        try {
            requests.onCompleted();
        } catch (IllegalStateException alreadyEnded) {
            // The call was cancelled or broke off; the latch below tells.
        }
        try {
            if (session.isAlive() && events.awaitEnd(deadline)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        requests.cancel("the writer is closed", null);
    }

    private Extent waitForExtent(int minBytes, int capacity, Deadline deadline) throws DaemonException {
        Backoff backoff = new Backoff();
        NativeMemoryLimitException denied = null;
        for (;;) {
            window.collect();
            window.limit(events.progress().getCreditBytes());
            int bytes = bytesFor(minBytes, capacity);
            if (window.admits(bytes)) {
                try {
                    Extent extent = bind(session.pool().mayLease()
                            ? session.pool().take(capacity, deadline) : session.pool().tryTake(capacity), bytes);
                    if (extent != null) {
                        return extent;
                    }
                } catch (NativeMemoryLimitException e) {
                    // Batches in flight, other writers and other processes give memory back.
                    denied = e;
                    denials++;
                }
            }
            events.check();
            if (deadline.expired()) {
                throw noExtent(denied, deadline);
            }
            backoff.pause("waiting for room for the next batch");
        }
    }

    private DaemonException noExtent(NativeMemoryLimitException denied, Deadline deadline) throws DaemonException {
        if (denied != null) {
            return denied.afterWaiting(deadline, window.describe());
        }
        events.fail(new DaemonException(ErrorKind.FAIL_EPOCH, "no room for the next batch within "
                + deadline.limit() + " (" + window.describe() + "): " + session.peer()
                + " is stopped or overloaded, or its broker does not answer; `penstockd status` shows which"));
        events.check();
        throw new IllegalStateException("a failed writer has no failure");
    }

    /** How much of an extent the batch gets: what is best at the moment, or all when it needs more. */
    private int bytesFor(int minBytes, int capacity) {
        int best = Math.min(window.batchBytes(), capacity);
        return minBytes <= best ? best : capacity;
    }

    /** The extent, or the part of it that the batch gets; null when there is none or no slot is free. */
    private Extent bind(Extent extent, int bytes) {
        if (extent == null) {
            return null;
        }
        Extent bound = window.handOut(extent, bytes);
        if (bound == null) {
            session.pool().free(extent);
        }
        return bound;
    }

    private WriteEvent ask(WriteRequest request, EventCase expected, String step, Deadline deadline)
            throws DaemonException {
        request(request, expected);
        return events.await(step, session.peer(), deadline);
    }

    /** Asks what a barrier waits for, on the line when there is one. */
    private WriteEvent askAtBarrier(WriteRequest.Builder request, EventCase expected, String step, Deadline deadline)
            throws DaemonException {
        if (line == null) {
            return ask(request.build(), expected, step, deadline);
        }
        requireUsable();
        requireNothingAwaited();
        sendOnLine(request);
        try {
            WriteEvent answer = line.await(events, step, session.peer(), deadline);
            if (answer.getEventCase() != expected) {
                events.unexpected(answer, expected.name());
                events.check();
            }
            return answer;
        } catch (DaemonException e) {
            throw e;
        } catch (IOException e) {
            throw events.lost(session.peer(), e);
        }
    }

    private void sendOnLine(WriteRequest.Builder request) throws DaemonException {
        try {
            line.send(request.setAfter(sent).build());
        } catch (IOException e) {
            throw events.lost(session.peer(), e);
        }
    }

    /** Sends what has an answer; only one answer may be outstanding. */
    private void request(WriteRequest request, EventCase expected) throws DaemonException {
        requireUsable();
        requireNothingAwaited();
        events.expect(expected);
        send(request);
    }

    private void requireNothingAwaited() {
        if (beginning != null) {
            throw new IllegalStateException("the answer to the " + beginning.step + " has to be awaited first");
        }
    }

    private void send(WriteRequest request) throws DaemonException {
        try {
            events.requests().onNext(request);
            sent++;
        } catch (IllegalStateException e) {
            // The call has ended; its end is, or will be in a moment, the failure that says why.
            events.check();
            throw new DaemonException(ErrorKind.FAIL_EPOCH, "the writer's stream has ended: " + e.getMessage(), e);
        }
    }

    private void requireUsable() throws DaemonException {
        if (closed.get()) {
            throw new IllegalStateException("the writer's stream is closed");
        }
        events.check();
    }

    private void requireSameEpoch(String step, long asked, long answered) throws DaemonException {
        if (asked != answered) {
            events.fail(new DaemonException(ErrorKind.INTERNAL, step + " was answered for epoch " + answered));
            events.check();
        }
    }
}
