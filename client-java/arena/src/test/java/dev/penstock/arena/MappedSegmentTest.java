package dev.penstock.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MappedSegmentTest {
    private static final int BYTES = 8192;
    private static final long ARENA = 0x1234_5678_9abc_def0L;

    private static ByteBuffer segment() {
        ByteBuffer header = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(8, Layout.VERSION);
        header.putInt(12, Layout.SEGMENT_KIND_DATA);
        header.putLong(16, Layout.hash());
        header.putLong(24, ARENA);
        header.putInt(32, 7);
        header.putLong(40, BYTES);
        header.putLong(48, 4096);
        return seal(header);
    }

    private static ByteBuffer seal(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        crc.update(header.slice(8, 56));
        header.putInt(64, (int) crc.getValue());
        header.putLong(0, Layout.SEGMENT_MAGIC);
        return header;
    }

    private static void verify(ByteBuffer segment) throws IOException {
        MappedSegment.verifyHeader(segment, Layout.SEGMENT_KIND_DATA, ARENA, 7, BYTES);
    }

    @Test
    void acceptsWhatTheDaemonWrote() throws IOException {
        verify(segment());
    }

    @ParameterizedTest
    @CsvSource({
        "0, magic", "8, layout version", "12, kind", "16, layout hash", "24, arena id", "32, segment id",
        "40, segment bytes", "48, data offset"
    })
    void namesTheFieldThatDiffers(int offset, String field) {
        ByteBuffer segment = segment();
        segment.put(offset, (byte) (segment.get(offset) ^ 0x10));
        if (offset != 0) {
            seal(segment);
        }
        IOException e = assertThrows(IOException.class, () -> verify(segment));
        assertTrue(e.getMessage().contains("has " + field), e.getMessage());
    }

    @Test
    void refusesADamagedHeader() {
        ByteBuffer segment = segment();
        segment.putInt(60, 1);
        IOException e = assertThrows(IOException.class, () -> verify(segment));
        assertTrue(e.getMessage().contains("header checksum"), e.getMessage());
    }

    @Test
    void refusesAnotherSize() {
        IOException e = assertThrows(IOException.class, () -> MappedSegment.verifyHeader(
                segment(), Layout.SEGMENT_KIND_DATA, ARENA, 7, 2 * BYTES));
        assertEquals("segment 7 is mapped with 8192 bytes, but the daemon granted 16384", e.getMessage());
    }

    @Test
    void unmapsAMapping(@TempDir Path folder) throws IOException {
        try (FileChannel file = FileChannel.open(
                folder.resolve("segment"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            assertTrue(MappedSegment.unmap(file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES)));
        }
    }
}
