package dev.penstock.session;

import dev.penstock.arena.Layout;
import dev.penstock.arena.MappedSegment;
import dev.penstock.arena.SlotTable;
import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.AttachLine;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.LeaseGrant;
import dev.penstock.proto.v1.LeaseRequest;
import dev.penstock.proto.v1.LeaseReturn;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import dev.penstock.proto.v1.Welcome;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life line of this process to the daemon: the raw socket whose end is the end of everything, the mapped handle
 * table, the leased segments, and the gRPC channel that the writers' streams run on. One per folder of sockets, shared
 * by all writers of the process and counted by reference; each open {@link WriterStream} holds a reference of its own,
 * so memory stays mapped until the last writer is closed, even when the session broke long before.
 *
 * <p>Thread-safe. The {@link SessionKeeper} thread alone uses the socket: it notices the end of the daemon, leases,
 * collects settled batches, returns idle segments, and at the end unmaps everything, which takes long and is nothing
 * for a task thread.
 */
public final class DaemonSession {

    private static final Logger LOG = LoggerFactory.getLogger(DaemonSession.class);

    // A segment that no writer needed for this long goes back to the daemon; leasing it again costs some 20 ms.
    private static final long IDLE_SEGMENT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long CHANNEL_END_MILLIS = 2_000;

    private static final AtomicLong LEAKED_SEGMENTS = new AtomicLong();

    private final SessionSettings settings;
    private final RawSessionSocket socket;
    private final String peer;
    private final Welcome welcome;
    private final ByteBuffer table;
    private final SlotTable slots;
    private final ExtentPool pool;
    private final ManagedChannel channel;
    private final SessionKeeper keeper;

    // The keeper's: what the pressure word was at its last look.
    private long lastPressure;

    private final AtomicInteger references = new AtomicInteger(1);
    private final AtomicReference<DaemonException> broken = new AtomicReference<>();
    private final Set<WriterStream> streams = ConcurrentHashMap.newKeySet();
    private final List<CreditWindow> windows = new CopyOnWriteArrayList<>();
    // The newest report that any writer of the session was sent; gRPC's event loop writes it, metric reporters read it.
    private volatile AccountReport account;
    // As of the keeper's last round. Not looked up when they are asked for: a metric reporter may ask while the keeper unmaps.
    private volatile long parkedBytes;
    private volatile long pinnedBytes;

    private DaemonSession(SessionSettings settings, RawSessionSocket socket, Welcome welcome, ByteBuffer table)
            throws DaemonException {
        this.settings = settings;
        this.socket = socket;
        this.peer = socket.peer();
        this.welcome = welcome;
        this.account = AccountReport.newBuilder().setCapacityBytes(settings.budgetBytes()).build();
        this.table = table;
        this.slots = new SlotTable(table, welcome.getFirstSlot(), welcome.getSlotCount(), welcome.getSessionId());
        this.channel = ApiChannel.open(settings.apiSocket());
        this.keeper = new SessionKeeper("penstock-session-" + welcome.getSessionId());
        this.pool = new ExtentPool(() -> keeper.call(this::lease), welcome.getMaxBatchBytes());
    }

    /**
     * Returns the process's session with the daemon of this folder, opening it when there is none or when it broke. The
     * caller must {@link #release()} it once. Blocks for at most the connect timeout.
     *
     * @throws DaemonException FALL_BACK when the daemon cannot be reached, with the reason and what to do; the daemon's
     *     own kind when it refuses
     */
    public static DaemonSession acquire(SessionSettings settings) throws DaemonException {
        return SessionRegistry.acquire(settings);
    }

    /** Gives one reference back; with the last one the session ends. Does not block. */
    public void release() {
        if (references.decrementAndGet() == 0) {
            SessionRegistry.forget(this);
            keeper.finish(this::end);
        }
    }

    /** False from the moment on at which the end of the daemon, or of this session, was noticed. */
    public boolean isAlive() {
        return broken.get() == null && references.get() > 0;
    }

    /**
     * Segments that sessions of this process left mapped at their end, because a writer had been closed with an extent
     * of them neither submitted nor given back: whoever still holds it may touch it. The collector unmaps them when
     * nobody does. 0 unless Penstock has a defect.
     */
    public static long leakedSegments() {
        return LEAKED_SEGMENTS.get();
    }

    /** The largest batch there can be, bytes. */
    public long maxBatchBytes() {
        return welcome.getMaxBatchBytes();
    }

    /**
     * The memory of this process as the daemon reported it last, some hundred milliseconds ago while something is going
     * on. The same for all writers of the process. Never asks the daemon.
     */
    public AccountReport account() {
        return account;
    }

    /** Bytes of the extents that writers fill or have handed over: shared memory that holds Arrow batches. */
    public long arrowBytes() {
        return pool.lentBytes();
    }

    /** Bytes of batches that were handed over and that the daemon has not taken yet, some 100 ms ago. */
    public long parkedBytes() {
        return parkedBytes;
    }

    /** Bytes of batches that the daemon was reading some 100 ms ago. */
    public long pinnedBytes() {
        return pinnedBytes;
    }

    /** The number that the daemon gave this session; it appears in the daemon's status and log. */
    public int sessionId() {
        return welcome.getSessionId();
    }

    /** The daemon's version and identity, for logs. */
    public String describeDaemon() {
        return peer + " version " + welcome.getDaemonVersion();
    }

    /**
     * Opens the stream of one sink writer.
     *
     * @param open configuration of the writer; session id and token are filled in here
     * @param timeout how long the daemon may take to accept it
     * @throws DaemonException FALL_BACK when the daemon does not answer; the daemon's kind when it refuses
     */
    public WriterStream openWriter(OpenWriter.Builder open, Duration timeout) throws DaemonException {
        if (!tryRetain()) {
            throw new DaemonException(ErrorKind.FALL_BACK, "the session with " + peer + " has been released");
        }
        WriterStream stream = new WriterStream(this);
        streams.add(stream);
        try {
            throwIfBroken();
            stream.open(open.setSessionId(welcome.getSessionId()).setToken(welcome.getToken()).build(), timeout);
            return stream;
        } catch (DaemonException | RuntimeException e) {
            stream.close(Duration.ZERO);
            throw e;
        }
    }

    /** Attaches the line of a writer of this session. */
    WriterLine attachLine(long writerId, Deadline deadline) throws IOException {
        return WriterLine.attach(settings.sessionSocket(), AttachLine.newBuilder()
                .setSessionId(welcome.getSessionId())
                .setToken(welcome.getToken())
                .setWriterId(writerId)
                .build(), deadline);
    }

    /** Opens a session: connect, Hello, Welcome, map the handle table. For the registry only. */
    static DaemonSession open(SessionSettings settings) throws DaemonException {
        Deadline deadline = Deadline.in(settings.connectTimeout());
        SessionRequest hello = SessionRequest.newBuilder().setHello(ClientIdentity.hello(settings)).build();
        RawSessionSocket socket = RawSessionSocket.connect(settings.sessionSocket(), deadline);
        try {
            SessionReply reply = socket.exchange(hello, "hello", deadline);
            requireAnswer(socket.peer(), "hello", reply, reply.hasWelcome());
            Welcome welcome = reply.getWelcome();
            requireBudget(socket.peer(), settings, welcome);
            ByteBuffer table = SegmentMapper.map(socket.receiveDescriptor("receiving the handle table", deadline),
                    Layout.SEGMENT_KIND_TABLE, welcome.getArenaId(), welcome.getTableSegmentId(),
                    welcome.getTableSegmentBytes());
            DaemonSession session = of(settings, socket, welcome, table);
            session.keeper.start(session::round);
            LOG.info("Session {} with {}: {} slots, batches up to {} bytes", session.sessionId(),
                    session.describeDaemon(), welcome.getSlotCount(), session.maxBatchBytes());
            return session;
        } catch (DaemonException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static DaemonSession of(SessionSettings settings, RawSessionSocket socket, Welcome welcome, ByteBuffer table)
            throws DaemonException {
        try {
            return new DaemonSession(settings, socket, welcome, table);
        } catch (DaemonException | RuntimeException e) {
            MappedSegment.unmap(table);
            throw e;
        }
    }

    /** Says at the start what would otherwise fail the first row. */
    private static void requireBudget(String peer, SessionSettings settings, Welcome welcome) throws DaemonException {
        long segmentBytes = welcome.getMaxBatchBytes() + Layout.SEGMENT_HEADER_BYTES;
        if (settings.budgetBytes() < segmentBytes) {
            throw NativeMemoryLimitException.ofSmallBudget(peer, settings.budgetBytes(), segmentBytes);
        }
    }

    /** One more reference, unless the last one is gone already. */
    boolean tryRetain() {
        for (int held = references.get(); held > 0; held = references.get()) {
            if (references.compareAndSet(held, held + 1)) {
                return true;
            }
        }
        return false;
    }

    /** {@link #isAlive()} after a fresh look at the life line, which waits for a request that is under way. */
    boolean looksAlive(Deadline deadline) {
        try {
            keeper.call(this::checkLifeLine).get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
            return isAlive();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return isAlive();
        } catch (ExecutionException | TimeoutException e) {
            return false;
        }
    }

    /** Asks for a fresh look at the life line soon, without waiting; a stream has just ended with a fault. */
    void suspect() {
        keeper.call(this::checkLifeLine);
    }

    /** Fails with the reason for which the session broke, if it did. */
    void throwIfBroken() throws DaemonException {
        DaemonException reason = broken.get();
        if (reason != null) {
            throw reason.again();
        }
    }

    SessionSettings settings() {
        return settings;
    }

    ManagedChannel channel() {
        return channel;
    }

    ExtentPool pool() {
        return pool;
    }

    /** The daemon, for messages. */
    String peer() {
        return peer;
    }

    /** Creates the window of a writer that the daemon accepted; the keeper collects it until it has retired. */
    CreditWindow newWindow(long creditBytes) {
        CreditWindow window = new CreditWindow(slots, pool, creditBytes);
        windows.add(window);
        return window;
    }

    /** Called by each stream that a report came with. */
    void reported(AccountReport newest) {
        account = newest;
    }

    /** Called once by each stream when it has been closed. */
    void closed(WriterStream stream) {
        streams.remove(stream);
        release();
    }

    // From here on: on the keeper's thread.

    private void round() {
        checkLifeLine();
        for (CreditWindow window : windows) {
            window.collect();
        }
        windows.removeIf(CreditWindow::isRetired);
        parkedBytes = bytesIn(Layout.STATE_PARKED);
        pinnedBytes = bytesIn(Layout.STATE_CLAIMED);
        if (broken.get() == null) {
            pool.removeIdle(isPressed() ? 0 : IDLE_SEGMENT_NANOS).forEach(this::giveBack);
        }
    }

    /** Whether another consumer of this process has begun to wait for memory since the last look. */
    private boolean isPressed() {
        long asked = slots.pressure();
        boolean pressed = asked != lastPressure;
        lastPressure = asked;
        return pressed;
    }

    private long bytesIn(int state) {
        return windows.stream().mapToLong(window -> window.bytesIn(state)).sum();
    }

    private Void checkLifeLine() {
        if (broken.get() == null) {
            String fault = socket.findFault();
            if (fault != null) {
                breakWith(new DaemonException(ErrorKind.FAIL_EPOCH, "lost " + peer + ": " + fault));
            }
        }
        return null;
    }

    /**
     * Ends the session for its users: every stream fails with this reason, and the next acquire opens a new session.
     */
    private void breakWith(DaemonException reason) {
        if (broken.compareAndSet(null, reason)) {
            LOG.warn("Session {} is broken: {}", sessionId(), reason.getMessage());
            SessionRegistry.forget(this);
            streams.forEach(stream -> stream.fail(reason));
        }
    }

    private ExtentPool.Lease lease() throws DaemonException {
        Deadline deadline = Deadline.in(settings.connectTimeout());
        String step = "lease of a data segment";
        SessionRequest request =
                SessionRequest.newBuilder().setLease(LeaseRequest.newBuilder().setPurpose("sink")).build();
        SessionReply reply = exchange(request, step, deadline);
        requireAnswer(peer, step, reply, reply.hasLease());
        LeaseGrant grant = reply.getLease();
        try {
            ByteBuffer segment = SegmentMapper.map(socket.receiveDescriptor(step, deadline), Layout.SEGMENT_KIND_DATA,
                    welcome.getArenaId(), grant.getSegmentId(), grant.getSegmentBytes());
            return new ExtentPool.Lease(grant.getSegmentId(), segment);
        } catch (DaemonException e) {
            throw lost(e);
        }
    }

    private void giveBack(ExtentPool.Lease idle) {
        MappedSegment.unmap(idle.segment());
        String step = "return of segment " + idle.segmentId();
        try {
            SessionReply reply = exchange(SessionRequest.newBuilder()
                    .setReturnLease(LeaseReturn.newBuilder().setSegmentId(idle.segmentId()))
                    .build(), step, Deadline.in(settings.connectTimeout()));
            requireAnswer(peer, step, reply, reply.hasReturned());
        } catch (DaemonException e) {
            // Nobody waits for this; the daemon takes the segment back at the latest when the session ends.
            LOG.warn("Segment {} was not returned: {}", idle.segmentId(), e.getMessage());
        }
    }

    private SessionReply exchange(SessionRequest request, String step, Deadline deadline) throws DaemonException {
        throwIfBroken();
        try {
            return socket.exchange(request, step, deadline);
        } catch (DaemonException e) {
            throw lost(e);
        }
    }

    /** A fault of the connection in the middle of a session: whoever has an epoch open has lost it. */
    private DaemonException lost(DaemonException fault) {
        DaemonException reason = new DaemonException(ErrorKind.FAIL_EPOCH, fault.getMessage(), fault);
        breakWith(reason);
        return reason;
    }

    private static void requireAnswer(String peer, String step, SessionReply reply, boolean expected)
            throws DaemonException {
        if (reply.hasRefused()) {
            throw DaemonException.reported(step + " refused by " + peer, reply.getRefused());
        }
        if (!expected) {
            throw new DaemonException(ErrorKind.INTERNAL,
                    step + ": " + peer + " answered with " + reply.getReplyCase() + ", which is no answer to that");
        }
    }

    /** The last work of the keeper: nobody holds a reference, so nobody touches the mappings any more. */
    private void end() {
        // Also stops every look at the socket that may still be queued: its descriptor number is about to be reused.
        broken.compareAndSet(null, new DaemonException(ErrorKind.FAIL_EPOCH, "the session has been released"));
        Set<Integer> live = windows.stream().flatMap(window -> window.liveSegments().stream())
                .collect(Collectors.toSet());
        windows.clear();
        parkedBytes = 0;
        pinnedBytes = 0;
        channel.shutdownNow();
        socket.close();
        pool.removeAll().forEach(lease -> unmapUnless(live.contains(lease.segmentId()), lease));
        MappedSegment.unmap(table);
        try {
            channel.awaitTermination(CHANNEL_END_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LOG.info("Session {} has ended", sessionId());
    }

    /** A mapping under a live view is leaked and counted: an access to unmapped memory would end the JVM. */
    private void unmapUnless(boolean live, ExtentPool.Lease lease) {
        if (live) {
            LEAKED_SEGMENTS.incrementAndGet();
            LOG.warn("Segment {} of session {} stays mapped: a writer was closed while an extent of it was in use",
                    lease.segmentId(), sessionId());
        } else {
            MappedSegment.unmap(lease.segment());
        }
    }
}
