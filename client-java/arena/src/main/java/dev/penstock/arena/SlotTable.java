package dev.penstock.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The session's range of the handle table in its TABLE segment: the client's half of the moves in {@code shm/LAYOUT.md}
 * (reserve, park, abandon) and the look whether the daemon has settled a slot. Slot numbers are global.
 *
 * <p>Safe for concurrent use by several writers of one session: every move is one compare-and-swap of the state word,
 * and whoever reserved a slot is alone in writing its descriptor.
 */
public final class SlotTable {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final ByteBuffer table;
    private final int firstSlot;
    private final int slotCount;
    private final int owner;

    /** Where the next search starts. A race on it costs a longer search, never a wrong slot. */
    private int next;

    /**
     * @param tableSegment the whole mapped TABLE segment (mapped or direct: heap buffers have no atomic access)
     * @param firstSlot number of the first slot of this table, from Welcome
     * @param slotCount number of slots, from Welcome
     * @param owner the session id, 1 to 2^24 - 1
     */
    public SlotTable(ByteBuffer tableSegment, int firstSlot, int slotCount, int owner) {
        long need = Layout.SEGMENT_HEADER_BYTES + (long) slotCount * Layout.SLOT_BYTES;
        if (!tableSegment.isDirect() || slotCount <= 0 || tableSegment.capacity() < need) {
            throw new IllegalArgumentException("a table of " + slotCount + " slots needs a mapped segment of " + need
                    + " bytes, got " + tableSegment);
        }
        if (owner <= 0 || owner >= 1 << Layout.STATE_OWNER_BITS) {
            throw new IllegalArgumentException("session id " + owner + " is not in 1.." + ((1 << 24) - 1));
        }
        this.table = tableSegment.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        this.firstSlot = firstSlot;
        this.slotCount = slotCount;
        this.owner = owner;
    }

    /** A number that changes when the daemon wants every segment back of which nothing is used. */
    public long pressure() {
        return (long) LONGS.getAcquire(table, Layout.SEGMENT_OFF_PRESSURE);
    }

    /** Moves a FREE slot to RESERVED and returns its number, or -1 when none is free. */
    public int reserve() {
        int start = next;
        for (int i = 0; i < slotCount; i++) {
            int index = (start + i) % slotCount;
            int at = Layout.SEGMENT_HEADER_BYTES + index * Layout.SLOT_BYTES;
            long word = (long) LONGS.getAcquire(table, at);
            if (StateWord.state(word) == Layout.STATE_FREE
                    && LONGS.compareAndSet(table, at, word, with(word, Layout.STATE_RESERVED))) {
                next = (index + 1) % slotCount;
                return firstSlot + index;
            }
        }
        return -1;
    }

    /**
     * Fills the descriptor of a slot that this session reserved and publishes it: from here on the extent belongs to
     * the daemon until {@link #isFree} says otherwise.
     *
     * @param offset of the batch from the start of its segment, bytes
     * @param length of the batch, bytes; equals the body bytes of its header
     * @param sequence number of the batch within its writer, from 1
     * @throws IllegalStateException when the slot is not RESERVED by this session, for example because the daemon
     *     revoked the session's slots
     */
    public void park(
            int slot, int segmentId, int schemaTag, long offset, long length, int rows, int flags, long sequence) {
        int at = at(slot);
        long word = reserved(slot, at, "park");
        table.putInt(at + Layout.SLOT_OFF_SEGMENT_ID, segmentId);
        table.putInt(at + Layout.SLOT_OFF_SCHEMA_TAG, schemaTag);
        table.putLong(at + Layout.SLOT_OFF_OFFSET, offset);
        table.putLong(at + Layout.SLOT_OFF_LENGTH, length);
        table.putInt(at + Layout.SLOT_OFF_ROW_COUNT, rows);
        table.putInt(at + Layout.SLOT_OFF_FLAGS, flags);
        table.putLong(at + Layout.SLOT_OFF_SEQUENCE, sequence);
        table.putLong(at + Layout.SLOT_OFF_RESERVED, 0);
        table.putInt(at + Layout.SLOT_OFF_RESERVED + 8, 0);
        table.putInt(at + Layout.SLOT_OFF_CRC32C, descriptorChecksum(at));
        // A compare-and-swap rather than a plain release: the daemon may have revoked the slot in between.
        if (!LONGS.compareAndSet(table, at, word, with(word, Layout.STATE_PARKED))) {
            throw unexpected(slot, at, "park");
        }
    }

    /**
     * Gives a reserved slot back unused.
     *
     * @throws IllegalStateException when the slot is not RESERVED by this session
     */
    public void abandon(int slot) {
        int at = at(slot);
        long word = reserved(slot, at, "abandon");
        long free = StateWord.of(StateWord.generation(word) + 1, Layout.STATE_FREE, 0);
        if (!LONGS.compareAndSet(table, at, word, free)) {
            throw unexpected(slot, at, "abandon");
        }
    }

    /**
     * True when the batch that was parked in this slot under this generation is done with, whether settled or revoked,
     * so that its extent may be written again. The read has acquire order.
     */
    public boolean isFree(int slot, long generation) {
        long word = (long) LONGS.getAcquire(table, at(slot));
        return StateWord.generation(word) != generation || StateWord.state(word) == Layout.STATE_FREE;
    }

    /** The slot's present generation, 0 to 2^32 - 1; stable while this session holds the slot. */
    public long generation(int slot) {
        return StateWord.generation((long) LONGS.getAcquire(table, at(slot)));
    }

    /** The slot's present state, one of {@code Layout.STATE_*} unless the word is damaged. */
    public int state(int slot) {
        return StateWord.state((long) LONGS.getAcquire(table, at(slot)));
    }

    private int at(int slot) {
        int index = slot - firstSlot;
        if (index < 0 || index >= slotCount) {
            throw new IllegalArgumentException("slot " + slot + " is outside this session's slots " + firstSlot + ".."
                    + (firstSlot + slotCount - 1));
        }
        return Layout.SEGMENT_HEADER_BYTES + index * Layout.SLOT_BYTES;
    }

    private long with(long word, int state) {
        return StateWord.of(StateWord.generation(word), state, owner);
    }

    private long reserved(int slot, int at, String move) {
        long word = (long) LONGS.getAcquire(table, at);
        if (StateWord.state(word) != Layout.STATE_RESERVED || StateWord.owner(word) != owner) {
            throw unexpected(slot, at, move);
        }
        return word;
    }

    private IllegalStateException unexpected(int slot, int at, String move) {
        return new IllegalStateException("cannot " + move + " slot " + slot + " as session " + owner + ": it is "
                + StateWord.describe((long) LONGS.getAcquire(table, at)));
    }

    private int descriptorChecksum(int at) {
        CRC32C crc = new CRC32C();
        crc.update(table.slice(at + Layout.SLOT_OFF_SEGMENT_ID, Layout.SLOT_OFF_CRC32C - Layout.SLOT_OFF_SEGMENT_ID));
        return (int) crc.getValue();
    }
}
