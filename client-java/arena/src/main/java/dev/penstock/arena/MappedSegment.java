package dev.penstock.arena;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** What there is to do with a segment that the daemon granted: check its header after mapping, unmap it at the end. */
public final class MappedSegment {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** How a mapping is undone before the collector would do it; null where the JVM offers no way. */
    private static final Unmapper UNMAPPER = findUnmapper();

    private MappedSegment() {}

    /**
     * Checks a freshly mapped segment against what the daemon said when it sent the descriptor.
     *
     * @param segment the whole mapping, direct or mapped; position and limit are not used
     * @param kind {@link Layout#SEGMENT_KIND_TABLE} or {@link Layout#SEGMENT_KIND_DATA}
     * @param arenaId the arena id of Welcome
     * @param segmentId the segment number of Welcome or LeaseGrant
     * @param bytes the size that Welcome or LeaseGrant named
     * @throws IOException when the segment is another one or written to another layout; the message names both values
     */
    public static void verifyHeader(ByteBuffer segment, int kind, long arenaId, int segmentId, long bytes)
            throws IOException {
        if (segment.capacity() < Layout.SEGMENT_HEADER_BYTES || segment.capacity() != bytes) {
            throw new IOException("segment " + segmentId + " is mapped with " + segment.capacity()
                    + " bytes, but the daemon granted " + bytes);
        }
        // The daemon writes the magic last with release order: seen by acquire, everything else of the header is there.
        long magic = (long) LONGS.getAcquire(segment, Layout.SEGMENT_OFF_MAGIC);
        check(segmentId, "magic", Layout.SEGMENT_MAGIC, magic);
        ByteBuffer header = segment.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        check(segmentId, "layout version", Layout.VERSION, header.getInt(Layout.SEGMENT_OFF_LAYOUT_VERSION));
        check(segmentId, "layout hash", Layout.hash(), header.getLong(Layout.SEGMENT_OFF_LAYOUT_HASH));
        check(segmentId, "kind", kind, header.getInt(Layout.SEGMENT_OFF_KIND));
        check(segmentId, "arena id", arenaId, header.getLong(Layout.SEGMENT_OFF_ARENA_ID));
        check(segmentId, "segment id", segmentId, header.getInt(Layout.SEGMENT_OFF_SEGMENT_ID));
        check(segmentId, "segment bytes", bytes, header.getLong(Layout.SEGMENT_OFF_SEGMENT_BYTES));
        check(segmentId, "data offset", Layout.SEGMENT_HEADER_BYTES, header.getLong(Layout.SEGMENT_OFF_DATA_OFFSET));
        CRC32C crc = new CRC32C();
        crc.update(segment.slice(
                Layout.SEGMENT_OFF_LAYOUT_VERSION,
                Layout.SEGMENT_OFF_HEADER_CRC32C - Layout.SEGMENT_OFF_LAYOUT_VERSION));
        check(segmentId, "header checksum", crc.getValue(),
                Integer.toUnsignedLong(header.getInt(Layout.SEGMENT_OFF_HEADER_CRC32C)));
    }

    /**
     * Unmaps a segment at once. Nobody may touch the buffer or a view of it afterwards: an access would end the JVM.
     * Unmapping a large segment takes a tenth of a second and more, so it does not belong on a task thread.
     *
     * @param segment a buffer as {@code FileChannel.map} returned it, not a slice or duplicate
     * @return false when this JVM offers no way, so that the mapping goes with the collector
     */
    public static boolean unmap(ByteBuffer segment) {
        return UNMAPPER != null && UNMAPPER.unmap(segment);
    }

    private static void check(int segmentId, String what, long want, long got) throws IOException {
        if (want != got) {
            throw new IOException(String.format(
                    "segment %d has %s %#x, expected %#x: client and daemon must be of the same release",
                    segmentId, what, got, want));
        }
    }

    // jdk.unsupported exports sun.misc.Unsafe for exactly this use; reflection, because the compiler warns about the
    // class and because a JVM without it must still load this one.
    private static Unmapper findUnmapper() {
        try {
            Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
            Field instance = unsafeClass.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            return new Unmapper(instance.get(null), unsafeClass.getMethod("invokeCleaner", ByteBuffer.class));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    private record Unmapper(Object unsafe, Method invokeCleaner) {
        boolean unmap(ByteBuffer segment) {
            try {
                invokeCleaner.invoke(unsafe, segment);
                return true;
            } catch (ReflectiveOperationException e) {
                return false;
            }
        }
    }
}
