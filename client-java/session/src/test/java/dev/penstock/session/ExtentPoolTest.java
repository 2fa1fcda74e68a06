package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.ErrorKind;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ExtentPoolTest {

    private static final int MIB = 1 << 20;
    private static final int SEGMENT_BYTES = 8 * MIB;
    private static final int LARGEST = SEGMENT_BYTES - Layout.SEGMENT_HEADER_BYTES;

    private int leases;
    private int mostLeases = Integer.MAX_VALUE;
    private int asked;
    private final ExtentPool pool = new ExtentPool(this::lease, LARGEST);

    private CompletableFuture<ExtentPool.Lease> lease() {
        if (leases == mostLeases) {
            asked++;
            return CompletableFuture.failedFuture(DaemonException.reported("lease",
                    FakeDaemon.error(ErrorKind.DENIED, "arena.capacity is leased out")));
        }
        return CompletableFuture.completedFuture(
                new ExtentPool.Lease(++leases, ByteBuffer.allocateDirect(SEGMENT_BYTES)));
    }

    @Test
    void capacitiesArePowersOfTwoUpToTheLargestBatch() throws DaemonException {
        assertEquals(MIB, pool.capacityFor(1));
        assertEquals(MIB, pool.capacityFor(MIB));
        assertEquals(2 * MIB, pool.capacityFor(MIB + 1));
        assertEquals(4 * MIB, pool.capacityFor(4 * MIB));
        assertEquals(LARGEST, pool.capacityFor(4 * MIB + 1));
        assertEquals(LARGEST, pool.capacityFor(LARGEST));
        DaemonException e = assertThrows(DaemonException.class, () -> pool.capacityFor(LARGEST + 1));
        assertEquals(ErrorKind.BAD_REQUEST, e.kind());
        RawSessionSocketTest.assertContains(e, String.valueOf(LARGEST), "arena.segment");
    }

    @Test
    void carvesOneSegmentBeforeItLeasesAnother() throws DaemonException {
        List<Extent> taken = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            taken.add(take(MIB));
        }
        assertEquals(1, leases);
        assertDisjoint(taken);
        take(MIB);
        assertEquals(2, leases);
    }

    @Test
    void reusesTheExtentThatCameBackLast() throws DaemonException {
        take(MIB);
        Extent second = take(MIB);
        pool.free(second);
        assertSame(second, take(MIB));
        assertEquals(1, leases);
    }

    @Test
    void anIdleSegmentIsCarvedAnewForAnotherCapacity() throws DaemonException {
        List<Extent> small = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            small.add(take(MIB));
        }
        assertNull(pool.tryTake(LARGEST));
        small.forEach(pool::free);
        assertNotNull(pool.tryTake(LARGEST));
        assertNull(pool.tryTake(MIB), "extents of the old carving are gone");
    }

    @Test
    void deniesWithTheDaemonsWordsAndRecovers() throws DaemonException {
        mostLeases = 0;
        DaemonException e = assertThrows(NativeMemoryLimitException.class, () -> take(MIB));
        assertEquals(ErrorKind.DENIED, e.kind());
        RawSessionSocketTest.assertContains(e, "arena.capacity is leased out");
        assertEquals(1, asked);
        assertFalse(pool.mayLease(), "whoever waits does not ask again at once");
        mostLeases = 1;
        assertNotNull(take(MIB));
        assertTrue(pool.mayLease());
    }

    @Test
    void lentBytesFollowWhatIsOut() throws DaemonException {
        Extent small = take(MIB);
        Extent large = take(4 * MIB);
        assertEquals(5 * MIB, pool.lentBytes());
        pool.free(small);
        assertEquals(4 * MIB, pool.lentBytes());
        pool.removeAll();
        assertEquals(0, pool.lentBytes());
        pool.free(large);
        assertEquals(0, pool.lent(), "an extent that outlives the pool belongs to nobody");
    }

    @Test
    void doesNotWaitForASilentDaemonLongerThanAllowed() {
        ExtentPool stuck = new ExtentPool(CompletableFuture::new, LARGEST);
        DaemonException e = assertThrows(
                DaemonException.class, () -> stuck.take(MIB, Deadline.in(Duration.ofMillis(50))));
        assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
        RawSessionSocketTest.assertContains(e, "within 50 ms");
    }

    @Test
    void aLeaseThatComesLateIsNotLost() throws DaemonException {
        CompletableFuture<ExtentPool.Lease> late = new CompletableFuture<>();
        ExtentPool slow = new ExtentPool(() -> late, LARGEST);
        assertThrows(DaemonException.class, () -> slow.take(MIB, Deadline.in(Duration.ofMillis(1))));
        late.complete(new ExtentPool.Lease(1, ByteBuffer.allocateDirect(SEGMENT_BYTES)));
        assertNotNull(slow.tryTake(MIB));
    }

    @Test
    void returnsOnlySegmentsOfWhichNothingIsLent() throws DaemonException {
        Extent extent = take(MIB);
        assertEquals(0, pool.removeIdle(0).size());
        pool.free(extent);
        assertEquals(0, pool.removeIdle(Duration.ofHours(1).toNanos()).size());
        assertEquals(1, pool.removeIdle(0).size());
        assertNull(pool.tryTake(MIB), "an extent of a returned segment");
    }

    @Test
    void refusesAnExtentThatIsGivenBackTwice() throws DaemonException {
        Extent extent = take(MIB);
        pool.free(extent);
        assertThrows(IllegalStateException.class, () -> pool.free(extent));
    }

    @Test
    void randomTakingAndFreeingNeverOverlaps() throws DaemonException {
        Random random = new Random(3);
        List<Extent> lent = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            if (lent.size() < 12 && random.nextInt(100) < 55) {
                lent.add(take(pool.capacityFor(1 + random.nextInt(random.nextInt(10) == 0 ? LARGEST : MIB))));
                assertDisjoint(lent);
            } else if (!lent.isEmpty()) {
                pool.free(lent.remove(random.nextInt(lent.size())));
            }
        }
        assertEquals(lent.size(), pool.lent());
        assertTrue(leases <= 24, () -> leases + " segments for at most 12 extents");
    }

    private Extent take(int capacity) throws DaemonException {
        return pool.take(capacity, Deadline.in(Duration.ofSeconds(5)));
    }

    private static void assertDisjoint(List<Extent> extents) {
        for (Extent a : extents) {
            assertTrue(a.offset() >= Layout.SEGMENT_HEADER_BYTES && a.offset() % Layout.SEGMENT_ALIGN == 0
                    && a.offset() + a.capacity() <= a.segment().capacity());
            for (Extent b : extents) {
                assertTrue(a == b || a.segmentId() != b.segmentId() || a.offset() + a.capacity() <= b.offset()
                        || b.offset() + b.capacity() <= a.offset());
            }
        }
    }
}
