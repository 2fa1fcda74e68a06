package dev.penstock.session;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.ErrorKind;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The extents of one session: leases data segments on demand and carves them, without asking anyone, into ranges of one
 * batch each. Capacities are powers of two from {@value #SMALLEST_CAPACITY} bytes up to the largest batch; each
 * capacity has a free list, last in first out so that the pages stay warm. A segment of which nothing is lent may be
 * carved anew or returned.
 *
 * <p>Thread-safe. {@link #tryTake} and {@link #free} take one short lock; {@link #take} may wait for the daemon, with a
 * deadline. All who wait share one lease that is under way; it joins the pool even when nobody waits any more.
 */
final class ExtentPool {

    /**
     * The usual extent, bytes: large enough to make all per-batch costs vanish, small enough for a credit of several.
     */
    static final int SMALLEST_CAPACITY = 1 << 20;

    // Between two questions for memory that was denied; the daemon itself waits before it denies.
    private static final long DENIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Where segments come from. */
    interface LeaseSource {
        /** Leases, maps and checks one more data segment; fails with a {@link DaemonException}. Must not block. */
        CompletableFuture<Lease> lease();
    }

    /**
     * A leased data segment.
     *
     * @param segmentId the segment's number in the arena
     * @param segment its bytes, header included
     */
    record Lease(int segmentId, ByteBuffer segment) {}

    private final LeaseSource source;
    private final int largestCapacity;
    private final Map<Integer, Segment> segments = new HashMap<>();
    private final Map<Integer, ArrayDeque<Extent>> freeByCapacity = new HashMap<>();
    // The lease that is under way, or null.
    private CompletableFuture<Void> growth;
    private long lentBytes;
    private boolean denied;
    private long deniedAt;
    private boolean closed;

    /**
     * Creates an empty pool.
     *
     * @param maxBatchBytes usable bytes of one segment, as Welcome says
     */
    ExtentPool(LeaseSource source, long maxBatchBytes) {
        this.source = source;
        this.largestCapacity = (int) Math.min(Integer.MAX_VALUE, maxBatchBytes) & -Layout.SEGMENT_ALIGN;
    }

    /** The capacity that serves a batch of this size: the next power of two, or the largest there can be. */
    int capacityFor(int bytes) throws DaemonException {
        if (bytes > largestCapacity) {
            throw new DaemonException(ErrorKind.BAD_REQUEST, "a batch of " + bytes
                    + " bytes does not fit; the largest is "
                    + largestCapacity + " bytes: raise arena.segment in penstockd's configuration");
        }
        int power = Math.max(SMALLEST_CAPACITY, bytes <= 1 ? 1 : Integer.highestOneBit(bytes - 1) << 1);
        return power < 0 ? largestCapacity : Math.min(power, largestCapacity);
    }

    /** An extent of exactly this capacity from what is leased already, or null. */
    synchronized Extent tryTake(int capacity) {
        ArrayDeque<Extent> free = freeByCapacity.get(capacity);
        Extent extent = free == null ? null : free.pollLast();
        if (extent == null) {
            extent = carve(capacity);
        }
        if (extent != null) {
            segments.get(extent.segmentId()).lent++;
            lentBytes += capacity;
        }
        return extent;
    }

    /**
     * An extent of exactly this capacity, from one more lease if need be.
     *
     * @throws NativeMemoryLimitException with the daemon's text, when its memory or this process's budget is used up
     */
    Extent take(int capacity, Deadline deadline) throws DaemonException {
        for (;;) {
            CompletableFuture<Void> growing;
            synchronized (this) {
                Extent extent = tryTake(capacity);
                if (extent != null) {
                    return extent;
                }
                growing = grow(capacity);
            }
            await(growing, deadline);
        }
    }

    /** Takes an extent back; nobody may touch its bytes any more. Nothing happens after {@link #removeAll}. */
    synchronized void free(Extent extent) {
        if (closed) {
            return;
        }
        Segment owner = segments.get(extent.segmentId());
        if (owner == null || owner.lent == 0) {
            throw new IllegalStateException("extent of segment " + extent.segmentId() + " is given back twice");
        }
        owner.lent--;
        lentBytes -= extent.capacity();
        owner.idleSince = System.nanoTime();
        freeByCapacity.computeIfAbsent(extent.capacity(), any -> new ArrayDeque<>()).addLast(extent);
    }

    /** How many extents are out, with writers or with the daemon. */
    synchronized int lent() {
        return segments.values().stream().mapToInt(s -> s.lent).sum();
    }

    /** Bytes of the extents that are out. */
    synchronized long lentBytes() {
        return lentBytes;
    }

    /**
     * False for a while after a denial: whoever waits for memory then waits for what comes back here, and does not ask
     * the daemon again and again.
     */
    synchronized boolean mayLease() {
        return !denied || System.nanoTime() - deniedAt >= DENIAL_NANOS;
    }

    /**
     * Takes segments out of the pool of which nothing has been lent for this long; the caller unmaps and returns them.
     */
    synchronized List<Lease> removeIdle(long idleNanos) {
        List<Lease> idle = new ArrayList<>();
        long now = System.nanoTime();
        for (Iterator<Segment> all = segments.values().iterator(); all.hasNext(); ) {
            Segment segment = all.next();
            if (segment.lent == 0 && now - segment.idleSince >= idleNanos) {
                forgetExtents(segment);
                idle.add(segment.lease);
                all.remove();
            }
        }
        return idle;
    }

    /**
     * Takes all segments out of the pool, lent or not, for good; a lease that is under way is not accepted any more.
     */
    synchronized List<Lease> removeAll() {
        closed = true;
        List<Lease> all = segments.values().stream().map(s -> s.lease).toList();
        segments.clear();
        freeByCapacity.clear();
        lentBytes = 0;
        return all;
    }

    private CompletableFuture<Void> grow(int capacity) {
        if (growth == null) {
            CompletableFuture<Void> started = source.lease().thenAccept(lease -> add(lease, capacity));
            growth = started;
            // Runs at once, and before the waiters, when the source answers without delay.
            started.whenComplete((done, fault) -> grown(started, fault));
            return started;
        }
        return growth;
    }

    private synchronized void add(Lease lease, int capacity) {
        Segment segment = new Segment(lease);
        if (closed || segment.room() < capacity) {
            throw new IllegalStateException("segment " + lease.segmentId() + " of " + lease.segment().capacity()
                    + " bytes is of no use for an extent of " + capacity + " bytes, the largest being "
                    + largestCapacity);
        }
        segments.put(lease.segmentId(), segment);
    }

    private synchronized void grown(CompletableFuture<Void> finished, Throwable fault) {
        if (growth == finished) {
            growth = null;
        }
        denied = fault != null && fault.getCause() instanceof NativeMemoryLimitException;
        deniedAt = System.nanoTime();
    }

    private static void await(CompletableFuture<Void> growing, Deadline deadline) throws DaemonException {
        try {
            growing.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DaemonException(ErrorKind.RETRY, "interrupted while waiting for a lease", e);
        } catch (TimeoutException e) {
            throw new DaemonException(ErrorKind.FAIL_EPOCH, "no lease of a segment within " + deadline.limit()
                    + ": penstockd is stopped or overloaded", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof DaemonException ours ? ours.again()
                    : new DaemonException(ErrorKind.INTERNAL, "lease failed: " + e.getCause().getMessage(),
                    e.getCause());
        }
    }

    /** Cuts a new extent behind the last one of some segment; if none has room, starts a segment anew that is idle. */
    private Extent carve(int capacity) {
        for (Segment segment : segments.values()) {
            if (segment.room() >= capacity) {
                return segment.cut(capacity);
            }
        }
        for (Segment segment : segments.values()) {
            if (segment.lent == 0) {
                forgetExtents(segment);
                segment.next = Layout.SEGMENT_HEADER_BYTES;
                if (segment.room() >= capacity) {
                    return segment.cut(capacity);
                }
            }
        }
        return null;
    }

    private void forgetExtents(Segment segment) {
        int id = segment.lease.segmentId();
        freeByCapacity.values().forEach(free -> free.removeIf(extent -> extent.segmentId() == id));
    }

    /** One leased segment and how far it has been carved; guarded by the pool's monitor. */
    private static final class Segment {
        final Lease lease;
        int next = Layout.SEGMENT_HEADER_BYTES;
        int lent;
        long idleSince = System.nanoTime();

        Segment(Lease lease) {
            this.lease = lease;
        }

        int room() {
            return lease.segment().capacity() - next;
        }

        Extent cut(int capacity) {
            Extent extent = new Extent(lease.segmentId(), lease.segment(), next, capacity);
            next += capacity;
            return extent;
        }
    }
}
