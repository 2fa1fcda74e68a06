package dev.penstock.flink.columns;

import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * The memory of one single-segment {@link BinaryRowData}, reused from row to row. Positions count from the start of the
 * segment. Multi-byte reads are in the machine's byte order, which is the order binary rows are written in.
 */
final class BinarySource {
    private MemorySegment[] segments;
    private MemorySegment segment;

    /** The array behind a heap segment; null off heap. */
    private byte[] heap;

    private byte[] scratch = new byte[256];

    void set(MemorySegment[] single) {
        segments = single;
        segment = single[0];
        heap = segment.getHeapMemory();
    }

    /** The segment as Flink's binary views want it. */
    MemorySegment[] segments() {
        return segments;
    }

    byte getByte(int at) {
        return segment.get(at);
    }

    short getShort(int at) {
        return segment.getShort(at);
    }

    int getInt(int at) {
        return segment.getInt(at);
    }

    long getLong(int at) {
        return segment.getLong(at);
    }

    /**
     * An array that holds the {@code count} bytes at {@code at}, beginning at {@link #arrayStart}. Valid until the next
     * call.
     */
    byte[] array(int at, int count) {
        if (heap != null) {
            return heap;
        }
        if (scratch.length < count) {
            scratch = new byte[Math.max(count, 2 * scratch.length)];
        }
        segment.get(at, scratch, 0, count);
        return scratch;
    }

    /** Where the bytes of position {@code at} begin in what {@link #array} returns. */
    int arrayStart(int at) {
        return heap != null ? at : 0;
    }
}
