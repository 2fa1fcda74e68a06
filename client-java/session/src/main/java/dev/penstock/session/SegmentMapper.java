package dev.penstock.session;

import dev.penstock.arena.MappedSegment;
import dev.penstock.proto.v1.ErrorKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.FileDescriptor;

/** Turns a received descriptor into a checked mapping. */
final class SegmentMapper {

    private SegmentMapper() {}

    /**
     * Maps a segment for reading and writing, checks its header, and closes the descriptor in every case: a mapping
     * needs no descriptor, and this one would be inherited by child processes.
     *
     * @param kind {@code Layout.SEGMENT_KIND_TABLE} or {@code SEGMENT_KIND_DATA}
     * @param bytes size that the daemon named; a different one is refused, because mapping beyond the end would try to
     *     grow the file and reading there would end the JVM
     * @return the whole segment, little-endian
     */
    static ByteBuffer map(FileDescriptor descriptor, int kind, long arenaId, int segmentId, long bytes)
            throws DaemonException {
        try {
            ByteBuffer segment = mapWhole(descriptor.intValue(), segmentId, bytes);
            try {
                MappedSegment.verifyHeader(segment, kind, arenaId, segmentId, bytes);
            } catch (IOException e) {
                MappedSegment.unmap(segment);
                throw e;
            }
            return segment.order(ByteOrder.LITTLE_ENDIAN);
        } catch (AccessDeniedException e) {
            // Opening the /proc entry checks the segment's mode (0600) again, as if it were opened by name.
            throw new DaemonException(ErrorKind.FALL_BACK, "segment " + segmentId
                    + " may be mapped only by the daemon's user, and this process runs as "
                    + System.getProperty("user.name")
                    + ": run penstockd and the TaskManager as the same user", e);
        } catch (IOException e) {
            throw new DaemonException(
                    ErrorKind.FALL_BACK, "cannot use segment " + segmentId + ": " + e.getMessage(), e);
        } finally {
            closeQuietly(descriptor);
        }
    }

    private static ByteBuffer mapWhole(int descriptor, int segmentId, long bytes) throws IOException {
        // The JDK has no FileChannel for a bare descriptor number; its /proc entry opens the same file anew.
        Path entry = Path.of("/proc/self/fd/" + descriptor);
        try (FileChannel channel = FileChannel.open(entry, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.size() != bytes || bytes > Integer.MAX_VALUE) {
                throw new IOException("segment " + segmentId + " has " + channel.size() + " bytes, the daemon said "
                        + bytes + "; at most " + Integer.MAX_VALUE + " can be mapped");
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
        }
    }

    private static void closeQuietly(FileDescriptor descriptor) {
        try {
            descriptor.close();
        } catch (IOException ignored) {
            // close(2) gives the number back even when it reports an error; there is nothing left to do.
        }
    }
}
