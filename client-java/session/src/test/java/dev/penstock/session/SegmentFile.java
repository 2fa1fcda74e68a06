package dev.penstock.session;

import dev.penstock.arena.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** A segment as the daemon would make it, in an ordinary file instead of a memfd: the client cannot tell. */
final class SegmentFile {

    private SegmentFile() {}

    static Path table(Path folder, long arenaId, int segmentId, int firstSlot, int slotCount) throws IOException {
        ByteBuffer bytes = header(Layout.SEGMENT_KIND_TABLE, arenaId, segmentId,
                Layout.SEGMENT_HEADER_BYTES + slotCount * Layout.SLOT_BYTES);
        bytes.putInt(Layout.SEGMENT_OFF_SLOT_BYTES, Layout.SLOT_BYTES);
        bytes.putInt(Layout.SEGMENT_OFF_FIRST_SLOT, firstSlot);
        bytes.putInt(Layout.SEGMENT_OFF_SLOT_COUNT, slotCount);
        return write(folder, segmentId, bytes);
    }

    static Path data(Path folder, long arenaId, int segmentId, int segmentBytes) throws IOException {
        return write(folder, segmentId, header(Layout.SEGMENT_KIND_DATA, arenaId, segmentId, segmentBytes));
    }

    private static ByteBuffer header(int kind, long arenaId, int segmentId, int segmentBytes) {
        ByteBuffer bytes = ByteBuffer.allocate(segmentBytes).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(Layout.SEGMENT_OFF_MAGIC, Layout.SEGMENT_MAGIC);
        bytes.putInt(Layout.SEGMENT_OFF_LAYOUT_VERSION, Layout.VERSION);
        bytes.putInt(Layout.SEGMENT_OFF_KIND, kind);
        bytes.putLong(Layout.SEGMENT_OFF_LAYOUT_HASH, Layout.hash());
        bytes.putLong(Layout.SEGMENT_OFF_ARENA_ID, arenaId);
        bytes.putInt(Layout.SEGMENT_OFF_SEGMENT_ID, segmentId);
        bytes.putLong(Layout.SEGMENT_OFF_SEGMENT_BYTES, segmentBytes);
        bytes.putLong(Layout.SEGMENT_OFF_DATA_OFFSET, Layout.SEGMENT_HEADER_BYTES);
        return bytes;
    }

    private static Path write(Path folder, int segmentId, ByteBuffer bytes) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(Layout.SEGMENT_OFF_LAYOUT_VERSION,
                Layout.SEGMENT_OFF_HEADER_CRC32C - Layout.SEGMENT_OFF_LAYOUT_VERSION));
        bytes.putInt(Layout.SEGMENT_OFF_HEADER_CRC32C, (int) crc.getValue());
        return Files.write(folder.resolve("segment-" + segmentId), bytes.array());
    }
}
