package dev.penstock.session;

import dev.penstock.arena.Extent;
import dev.penstock.arena.SlotTable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * What one writer holds: extents that it is filling, each with a reserved slot, and batches that it has parked and that
 * the daemon may still read. Both count against the writer's credit, the first with their capacity, so that a batch
 * which has room when it is begun also has room when it is submitted. One extent is always allowed, however large.
 *
 * <p>Thread-safe: the writer's task thread fills it, the session's keeper also collects, so that a writer without rows
 * keeps nothing from its neighbours. The window outlives its writer until the last slot is FREE.
 */
final class CreditWindow {

    // Beyond what the credit needs: one extent being filled while one is on its way back.
    private static final int SPARE_EXTENTS = 2;

    private final SlotTable slots;
    private final ExtentPool pool;
    private final long creditBytes;
    private final int mostExtents;

    private final List<Filling> filling = new ArrayList<>(2);
    // In order of submission, which is the order in which the daemon gives slots back; ten or so, never hundreds.
    private final List<Parked> parked = new ArrayList<>();
    // What the writer was still filling when it was closed: nobody else may be given these bytes, nor may they be unmapped.
    private final List<Extent> live = new ArrayList<>(0);
    private long usedBytes;
    private boolean closed;

    /**
     * Creates an empty window.
     *
     * @param creditBytes bytes that may be outstanding, as WriterOpened says
     */
    CreditWindow(SlotTable slots, ExtentPool pool, long creditBytes) {
        this.slots = slots;
        this.pool = pool;
        this.creditBytes = creditBytes;
        this.mostExtents = (int) Math.min(
                Integer.MAX_VALUE, SPARE_EXTENTS + creditBytes / ExtentPool.SMALLEST_CAPACITY);
    }

    /** True when one more extent of this capacity may be handed out now. */
    synchronized boolean admits(int capacity) {
        int held = filling.size() + parked.size();
        return held == 0 || (held < mostExtents && usedBytes + capacity <= creditBytes);
    }

    /**
     * Binds an extent to a slot that it will be parked in.
     *
     * @return false when the session has no free slot: the extent stays with the caller
     */
    synchronized boolean handOut(Extent extent) {
        int slot = slots.reserve();
        if (slot < 0) {
            return false;
        }
        filling.add(new Filling(extent, slot));
        usedBytes += extent.capacity();
        return true;
    }

    /**
     * Parks a filled extent: from here on its bytes belong to the daemon.
     *
     * @param extent the very object that was handed out
     * @throws IllegalArgumentException when this writer is not filling that extent, or the batch is larger than it
     * @throws IllegalStateException when the daemon has revoked the slot, which means that the session is over
     */
    synchronized Parked park(Extent extent, int bodyBytes, int schemaTag, int rows, int flags, long sequence) {
        if (bodyBytes <= 0 || bodyBytes > extent.capacity()) {
            throw new IllegalArgumentException(
                    "a batch of " + bodyBytes + " bytes in an extent of " + extent.capacity() + " bytes");
        }
        int index = indexOf(extent);
        int slot = filling.get(index).slot;
        long generation = slots.generation(slot);
        slots.park(slot, extent.segmentId(), schemaTag, extent.offset(), bodyBytes, rows, flags, sequence);
        filling.remove(index);
        usedBytes += bodyBytes - extent.capacity();
        Parked batch = new Parked(extent, slot, generation, bodyBytes);
        parked.add(batch);
        return batch;
    }

    /** Takes an extent back that was handed out and not parked; nobody may touch it any more. Also after the close. */
    synchronized void giveBack(Extent extent) {
        if (closed) {
            // By identity, as in indexOf.
            if (live.removeIf(one -> one == extent)) {
                pool.free(extent);
            }
            return;
        }
        Filling unused = filling.remove(indexOf(extent));
        abandon(unused);
        pool.free(unused.extent);
    }

    /**
     * The writer has ended. Parked extents go back when their slots are FREE. One that was neither parked nor given back
     * is still in somebody's hands: its slot is free from now on, its bytes are not until it is given back.
     */
    synchronized void close() {
        closed = true;
        filling.forEach(unused -> {
            abandon(unused);
            live.add(unused.extent);
        });
        filling.clear();
    }

    /** The segments that somebody may still touch although the writer has been closed. */
    synchronized List<Integer> liveSegments() {
        return live.stream().map(Extent::segmentId).toList();
    }

    /** Frees the extents of all batches whose slots the daemon has settled. */
    synchronized void collect() {
        for (Iterator<Parked> all = parked.iterator(); all.hasNext(); ) {
            Parked batch = all.next();
            if (slots.isFree(batch.slot, batch.generation)) {
                all.remove();
                usedBytes -= batch.bytes;
                pool.free(batch.extent);
            }
        }
    }

    /** True when the writer has ended, the daemon has settled its last batch, and nobody holds an extent of it. */
    synchronized boolean isRetired() {
        return closed && parked.isEmpty() && live.isEmpty();
    }

    /** Bytes of the batches whose slots are in this state, one of {@code Layout.STATE_*}. */
    synchronized long bytesIn(int state) {
        return parked.stream().filter(batch -> slots.state(batch.slot) == state).mapToLong(Parked::bytes).sum();
    }

    /** For messages: what is outstanding. */
    synchronized String describe() {
        return parked.size() + " batches parked and " + filling.size() + " extents being filled, " + usedBytes + " of "
                + creditBytes + " bytes of credit";
    }

    private void abandon(Filling unused) {
        usedBytes -= unused.extent.capacity();
        try {
            slots.abandon(unused.slot);
        } catch (IllegalStateException revoked) {
            // The daemon has ended the session and revoked its slots: abandoned already.
        }
    }

    private int indexOf(Extent extent) {
        for (int i = 0; i < filling.size(); i++) {
            // Identity: the record's equals would compare megabytes of shared memory.
            if (filling.get(i).extent == extent) {
                return i;
            }
        }
        throw new IllegalArgumentException("extent at " + extent.offset() + " of segment " + extent.segmentId()
                + " is not being filled by this writer");
    }

    /** An extent that the writer fills and the slot that is reserved for it. */
    private record Filling(Extent extent, int slot) {}

    /**
     * A batch that the daemon may still read.
     *
     * @param generation of the slot while this batch is in it
     * @param bytes of the batch
     */
    record Parked(Extent extent, int slot, long generation, int bytes) {}
}
