package dev.penstock.arena.vector;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Batches against the bytes that shm/LAYOUT.md asks for, looked at without any code of the writers. */
class BatchTest {
    private static final int OFFSET = 4096;

    private final ByteBuffer segment = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

    BatchTest() {
        // An extent is never clean: what an earlier batch left must not shine through.
        for (int i = 0; i < segment.capacity(); i++) {
            segment.put(i, (byte) 0xa5);
        }
    }

    /** One nullable BIGINT, one string, one list of ints: written through the same code for both batches. */
    private static final class Sample {
        final FixedVector number = new FixedVector(8, true);
        final BytesVector text = new BytesVector(true);
        final FixedVector element = new FixedVector(4, true);
        final ListVector list = new ListVector(element, true);
        final Batch batch = new Batch(List.of(number, text, list), 0x0102);

        boolean write(Long n, String s, Integer... elements) {
            return (n == null ? number.appendNull() : number.append(n.longValue()))
                    && (s == null ? text.appendNull() : text.append(s.getBytes(), 0, s.length()))
                    && elements(elements)
                    && list.append();
        }

        private boolean elements(Integer[] elements) {
            for (Integer e : elements) {
                if (!(e == null ? element.appendNull() : element.append(e.intValue()))) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Sample sample = new Sample();
    private final Sample scale = new Sample();

    private boolean append(int kind, Long n, String s, Integer... elements) {
        if (sample.batch.unplaced()) {
            measure(n, s, elements);
            assertTrue(sample.batch.place(scale.batch));
        }
        if (sample.batch.full() || !sample.write(n, s, elements)) {
            sample.batch.rollback();
            return false;
        }
        sample.batch.commit((byte) kind);
        return true;
    }

    private void measure(Long n, String s, Integer... elements) {
        scale.batch.reset();
        assertTrue(scale.write(n, s, elements));
    }

    private void begin(int capacity) {
        List.of(scale.number, scale.text, scale.list).forEach(Vector::measure);
        sample.batch.begin(new Extent(1, segment, OFFSET, capacity));
    }

    private long node(int i, int field) {
        return segment.getLong(OFFSET + 64 + 16 * i + 8 * field);
    }

    private byte[] buffer(int i) {
        int entry = OFFSET + 64 + 16 * 4 + 16 * i;
        long at = segment.getLong(entry);
        assertEquals(0, at % 64, "buffer " + i + " at " + at);
        byte[] bytes = new byte[(int) segment.getLong(entry + 8)];
        segment.get((int) (OFFSET + at), bytes);
        return bytes;
    }

    private static byte[] bytes(int... values) {
        byte[] out = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            out[i] = (byte) values[i];
        }
        return out;
    }

    private static byte[] ints(int... values) {
        ByteBuffer out = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(out::putInt);
        return out.array();
    }

    @Test
    void writesHeaderTablesAndBuffers() {
        begin(1 << 16);
        assertTrue(append(0, 1L, "ab", 1, null, 3));
        assertTrue(append(3, null, null));
        assertTrue(append(0, -1L, "c", 7));
        int body = sample.batch.finish();
        assertEquals(Layout.BATCH_MAGIC, segment.getInt(OFFSET));
        assertEquals(1, segment.getShort(OFFSET + 4));
        assertEquals(0, segment.getShort(OFFSET + 6));
        assertEquals(3, segment.getInt(OFFSET + 8));
        assertEquals(4, segment.getInt(OFFSET + 12));
        assertEquals(10, segment.getInt(OFFSET + 16));
        assertEquals(0x0102, segment.getInt(OFFSET + 20));
        assertEquals(body, segment.getLong(OFFSET + 24));
        assertEquals(0, segment.getLong(OFFSET + 56));
        assertArrayEquals(new long[] {3, 1, 3, 1, 3, 0, 4, 1}, nodes());
        assertArrayEquals(bytes(0, 3, 0), buffer(0));
        assertArrayEquals(bytes(0b101), buffer(1));
        assertArrayEquals(ints(1, 0, 0, 0, -1, -1), buffer(2));
        assertArrayEquals(bytes(0b101), buffer(3));
        assertArrayEquals(ints(0, 2, 2, 3), buffer(4));
        assertArrayEquals(bytes('a', 'b', 'c'), buffer(5));
        assertArrayEquals(bytes(), buffer(6));
        assertArrayEquals(ints(0, 3, 3, 4), buffer(7));
        assertArrayEquals(bytes(0b1101), buffer(8));
        assertArrayEquals(ints(1, 0, 3, 7), buffer(9));
    }

    private long[] nodes() {
        long[] out = new long[8];
        for (int i = 0; i < 8; i++) {
            out[i] = node(i / 2, i % 2);
        }
        return out;
    }

    @Test
    void withoutOtherKindsTheKindBufferIsEmptyAndTheFlagSet() {
        begin(1 << 16);
        assertTrue(append(0, 1L, "x"));
        assertEquals(Layout.BATCH_FLAG_ALL_INSERT, sample.batch.flags());
        sample.batch.finish();
        assertEquals(1, segment.getShort(OFFSET + 6));
        assertArrayEquals(bytes(), buffer(0));
    }

    @Test
    void aSparseBatchIsCompacted() {
        begin(1 << 19);
        assertTrue(append(0, 1L, "x", 5));
        int body = sample.batch.finish();
        assertTrue(body <= 1024, "one row takes " + body + " bytes");
        assertArrayEquals(bytes('x'), buffer(5));
        assertArrayEquals(ints(5), buffer(9));
    }

    @Test
    void everyWayToBeFullLeavesTheRowsBeforeIntact() {
        begin(4096);
        List<String> texts = new ArrayList<>();
        long seed = 1;
        for (int batches = 0; batches < 50; batches++) {
            int rows = 0;
            texts.clear();
            while (true) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                String text = seed < 0 ? null : "t".repeat((int) (seed >>> 59));
                Integer[] elements = new Integer[(int) (seed >>> 32 & 7)];
                if (elements.length > 0 && (seed & 1) == 0) {
                    elements[0] = 1;
                }
                if (!append(0, (seed & 2) == 0 ? null : seed, text, elements)) {
                    break;
                }
                texts.add(text);
                rows++;
            }
            assertEquals(rows, sample.batch.rowCount());
            int body = sample.batch.finish();
            assertTrue(body <= 4096, "body " + body);
            checkTexts(texts);
            sample.batch.begin(new Extent(1, segment, OFFSET, 4096));
        }
    }

    private void checkTexts(List<String> texts) {
        long nulls = texts.stream().filter(t -> t == null).count();
        assertEquals(nulls, node(1, 1));
        assertEquals(texts.size(), node(1, 0));
        byte[] validity = buffer(3);
        for (int i = 0; i < texts.size() && nulls > 0; i++) {
            assertEquals(texts.get(i) != null, (validity[i / 8] >> i % 8 & 1) == 1, "validity of row " + i);
        }
        int length = texts.stream().mapToInt(t -> t == null ? 0 : t.length()).sum();
        assertEquals(length, buffer(5).length);
    }

    @Test
    void aRowThatFillsTheMinimumExactlyFits() {
        begin(1 << 16);
        measure(1L, "x".repeat(1000), 1, 2, 3);
        long minimum = Batch.minimumBytes(scale.batch);
        sample.batch.begin(new Extent(1, segment, OFFSET, (int) minimum - 64));
        assertFalse(sample.batch.place(scale.batch));
        sample.batch.begin(new Extent(1, segment, OFFSET, (int) minimum));
        assertTrue(append(0, 1L, "x".repeat(1000), 1, 2, 3));
        assertTrue(sample.batch.finish() <= minimum);
    }

    @Test
    void misuseIsRefused() {
        assertThrows(IllegalStateException.class, () -> sample.batch.place(scale.batch));
        assertThrows(IllegalStateException.class, () -> new FixedVector(8, false).appendNull());
        assertThrows(IllegalArgumentException.class, () -> new FixedVector(3, false));
        begin(1 << 16);
        assertThrows(IllegalStateException.class, () -> sample.batch.finish());
    }
}
