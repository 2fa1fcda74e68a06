package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.arena.SlotTable;
import dev.penstock.arena.StateWord;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CreditWindowTest {

    private static final int MIB = 1 << 20;
    private static final int OWNER = 3;
    private static final int SLOTS = 8;

    private final ByteBuffer table = ByteBuffer
            .allocateDirect(Layout.SEGMENT_HEADER_BYTES + SLOTS * Layout.SLOT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final SlotTable slots = new SlotTable(table, 0, SLOTS, OWNER);
    private int leases;
    private final ExtentPool pool = new ExtentPool(() -> CompletableFuture.completedFuture(
            new ExtentPool.Lease(++leases, ByteBuffer.allocateDirect(4 * MIB + Layout.SEGMENT_HEADER_BYTES))), 4 * MIB);

    @Test
    void oneExtentIsAllowedHoweverSmallTheCredit() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 1);
        assertTrue(window.admits(4 * MIB));
        Extent extent = handOut(window, MIB);
        assertFalse(window.admits(MIB));
        window.giveBack(extent);
        assertTrue(window.admits(MIB));
    }

    @Test
    void countsCapacityWhileFillingAndBytesOnceParked() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 2 * MIB + 4096);
        Extent first = handOut(window, MIB);
        assertTrue(window.admits(MIB));
        assertFalse(window.admits(2 * MIB));
        window.park(first, 4096, 1, 1, 0, 1);
        assertTrue(window.admits(2 * MIB));
        handOut(window, 2 * MIB);
        assertFalse(window.admits(MIB));
    }

    @Test
    void tinyBatchesDoNotPinMoreExtentsThanTheCreditIsWorth() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 2 * MIB);
        for (int i = 1; i <= 4; i++) {
            assertTrue(window.admits(MIB), "extent " + i);
            window.park(handOut(window, MIB), 64, 1, 1, 0, i);
        }
        assertFalse(window.admits(MIB), "2 MiB of credit are 2 extents and 2 spare ones");
    }

    @Test
    void collectsSettledBatchesInAnyOrderAndFreesTheirCredit() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 2 * MIB);
        CreditWindow.Parked first = window.park(handOut(window, MIB), MIB, 1, 1, 0, 1);
        CreditWindow.Parked second = window.park(handOut(window, MIB), MIB, 1, 1, 0, 2);
        assertFalse(window.admits(MIB));
        settle(second);
        window.collect();
        assertTrue(window.admits(MIB));
        assertEquals(1, pool.lent());
        settle(first);
        window.collect();
        assertEquals(0, pool.lent());
    }

    @Test
    void closeKeepsWhatTheDaemonMayStillRead() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 4 * MIB);
        CreditWindow.Parked parked = window.park(handOut(window, MIB), 64, 1, 1, 0, 1);
        window.giveBack(handOut(window, MIB));
        window.close();
        assertEquals(1, pool.lent());
        assertFalse(window.isRetired());
        settle(parked);
        window.collect();
        assertTrue(window.isRetired());
        assertEquals(0, pool.lent());
        assertEquals(0, countNotFree());
    }

    @Test
    void closeKeepsWhatSomebodyMayStillWriteUntilItIsGivenBack() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 4 * MIB);
        Extent live = handOut(window, MIB);
        window.close();
        assertEquals(0, countNotFree(), "the daemon need not wait for it");
        assertEquals(List.of(live.segmentId()), window.liveSegments());
        assertFalse(window.isRetired());
        assertEquals(1, pool.lent());
        window.giveBack(live);
        assertTrue(window.isRetired());
        assertEquals(List.of(), window.liveSegments());
        assertEquals(0, pool.lent());
    }

    @Test
    void saysNoWhenNoSlotIsFree() throws DaemonException {
        for (int i = 0; i < SLOTS; i++) {
            assertTrue(slots.reserve() >= 0);
        }
        CreditWindow window = new CreditWindow(slots, pool, 4 * MIB);
        Extent extent = pool.take(MIB, Deadline.in(Duration.ofSeconds(1)));
        assertFalse(window.handOut(extent));
        slots.abandon(0);
        assertTrue(window.handOut(extent));
    }

    @Test
    void refusesExtentsThatItDidNotHandOutAndBatchesThatDoNotFit() throws DaemonException {
        CreditWindow window = new CreditWindow(slots, pool, 4 * MIB);
        Extent mine = handOut(window, MIB);
        Extent foreign = pool.take(MIB, Deadline.in(Duration.ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> window.park(foreign, 64, 1, 1, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> window.giveBack(foreign));
        assertThrows(IllegalArgumentException.class, () -> window.park(mine, MIB + 64, 1, 1, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> window.park(mine, 0, 1, 1, 0, 1));
    }

    private Extent handOut(CreditWindow window, int capacity) throws DaemonException {
        Extent extent = pool.take(capacity, Deadline.in(Duration.ofSeconds(1)));
        assertTrue(window.handOut(extent));
        return extent;
    }

    private void settle(CreditWindow.Parked batch) {
        table.putLong(Layout.SEGMENT_HEADER_BYTES + batch.slot() * Layout.SLOT_BYTES,
                StateWord.of(batch.generation() + 1, Layout.STATE_FREE, 0));
    }

    private int countNotFree() {
        int found = 0;
        for (int i = 0; i < SLOTS; i++) {
            long word = table.getLong(Layout.SEGMENT_HEADER_BYTES + i * Layout.SLOT_BYTES);
            found += StateWord.state(word) == Layout.STATE_FREE ? 0 : 1;
        }
        return found;
    }
}
