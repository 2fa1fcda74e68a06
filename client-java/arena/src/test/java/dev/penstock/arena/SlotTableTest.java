package dev.penstock.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class SlotTableTest {
    private static final int FIRST = 96;
    private static final int COUNT = 8;
    private static final int SESSION = 5;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(
                    Layout.SEGMENT_HEADER_BYTES + COUNT * Layout.SLOT_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    private final SlotTable table = new SlotTable(memory, FIRST, COUNT, SESSION);

    private int at(int slot) {
        return Layout.SEGMENT_HEADER_BYTES + (slot - FIRST) * Layout.SLOT_BYTES;
    }

    private long word(int slot) {
        return memory.getLong(at(slot));
    }

    /** Plays the daemon. */
    private void set(int slot, long generation, int state, int owner) {
        memory.putLong(at(slot), StateWord.of(generation, state, owner));
    }

    private void park(int slot) {
        table.park(slot, 3, 77, 4096, 640, 10, Layout.BATCH_FLAG_ALL_INSERT, 9);
    }

    @Test
    void reservesEverySlotOnceAndThenNone() {
        Set<Integer> slots = new HashSet<>();
        for (int i = 0; i < COUNT; i++) {
            int slot = table.reserve();
            assertTrue(slot >= FIRST && slot < FIRST + COUNT && slots.add(slot), "slot " + slot);
            assertEquals(StateWord.of(0, Layout.STATE_RESERVED, SESSION), word(slot));
        }
        assertEquals(-1, table.reserve());
    }

    @Test
    void findsTheOneFreeSlot() {
        for (int i = 0; i < COUNT; i++) {
            set(FIRST + i, 1, Layout.STATE_CLAIMED, 0);
        }
        set(FIRST + 6, 2, Layout.STATE_FREE, 0);
        assertEquals(FIRST + 6, table.reserve());
        assertEquals(2, table.generation(FIRST + 6));
    }

    @Test
    void parkWritesTheDescriptorAndThenTheState() {
        int slot = table.reserve();
        park(slot);
        int at = at(slot);
        assertEquals(StateWord.of(0, Layout.STATE_PARKED, SESSION), word(slot));
        assertEquals(3, memory.getInt(at + 8));
        assertEquals(77, memory.getInt(at + 12));
        assertEquals(4096, memory.getLong(at + 16));
        assertEquals(640, memory.getLong(at + 24));
        assertEquals(10, memory.getInt(at + 32));
        assertEquals(1, memory.getInt(at + 36));
        assertEquals(9, memory.getLong(at + 40));
        CRC32C crc = new CRC32C();
        crc.update(memory.slice(at + 8, 52));
        assertEquals((int) crc.getValue(), memory.getInt(at + 60));
    }

    @Test
    void aParkedSlotIsFreeWhenItsGenerationIsOver() {
        int slot = table.reserve();
        park(slot);
        long generation = table.generation(slot);
        assertFalse(table.isFree(slot, generation));
        set(slot, generation, Layout.STATE_CLAIMED, 0);
        assertFalse(table.isFree(slot, generation));
        set(slot, generation + 1, Layout.STATE_FREE, 0);
        assertTrue(table.isFree(slot, generation));
        set(slot, generation + 1, Layout.STATE_RESERVED, SESSION);
        assertTrue(table.isFree(slot, generation), "reserved by another writer: still over for the first");
    }

    @Test
    void abandonRaisesTheGeneration() {
        int slot = table.reserve();
        table.abandon(slot);
        assertEquals(StateWord.of(1, Layout.STATE_FREE, 0), word(slot));
    }

    @Test
    void movesFromTheWrongStateAreRefusedAndChangeNothing() {
        int slot = table.reserve();
        set(slot, 1, Layout.STATE_FREE, 0); // the daemon revoked it
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> park(slot));
        assertTrue(e.getMessage().contains("FREE generation 1"), e.getMessage());
        assertEquals(StateWord.of(1, Layout.STATE_FREE, 0), word(slot));
        set(slot, 1, Layout.STATE_RESERVED, SESSION + 1);
        assertThrows(IllegalStateException.class, () -> table.abandon(slot));
        set(slot, 1, Layout.STATE_PARKED, SESSION);
        assertThrows(IllegalStateException.class, () -> table.abandon(slot));
    }

    @Test
    void slotsOfOthersAndHeapBuffersAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> table.generation(FIRST - 1));
        assertThrows(IllegalArgumentException.class, () -> table.isFree(FIRST + COUNT, 0));
        assertThrows(IllegalArgumentException.class,
                () -> new SlotTable(ByteBuffer.allocate(memory.capacity()), FIRST, COUNT, SESSION));
        assertThrows(IllegalArgumentException.class, () -> new SlotTable(memory, FIRST, COUNT + 1, SESSION));
        assertThrows(IllegalArgumentException.class, () -> new SlotTable(memory, FIRST, COUNT, 1 << 24));
    }

    @Test
    void concurrentWritersNeverHoldTheSameSlot() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        Set<Integer> held = java.util.concurrent.ConcurrentHashMap.newKeySet();
        List<Future<Void>> done = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            done.add(threads.submit(() -> {
                for (int i = 0; i < 20_000; i++) {
                    int slot = table.reserve();
                    if (slot >= 0) {
                        assertTrue(held.add(slot), "slot " + slot + " reserved twice");
                        held.remove(slot);
                        table.abandon(slot);
                    }
                }
                return null;
            }));
        }
        for (Future<Void> thread : done) {
            thread.get(30, TimeUnit.SECONDS);
        }
        threads.shutdown();
    }
}
