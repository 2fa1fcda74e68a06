package dev.penstock.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.junit.jupiter.api.Test;

class LayoutTest {
    private static final Path GOLDEN = Path.of("..", "..", "shm", "testdata", "layout.golden");

    @Test
    void constantsEqualTheGoldenFile() throws Exception {
        assertEquals(Files.readString(GOLDEN), Layout.render());
    }

    @Test
    void hashIsTheFirstEightBytesOfTheGoldenFilesDigest() throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(GOLDEN));
        assertEquals(ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getLong(), Layout.hash());
    }
}
