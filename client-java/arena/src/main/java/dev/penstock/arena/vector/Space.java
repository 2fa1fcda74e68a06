package dev.penstock.arena.vector;

import dev.penstock.arena.Layout;

/**
 * A cursor that gives out buffers, each at a multiple of {@link Layout#BATCH_ALIGN}, for a batch of {@link #rows} rows.
 */
final class Space {
    private long base;
    private long rows;
    private long cursor;

    /**
     * Starts anew.
     *
     * @param base where the batch starts in its segment, bytes
     * @param header bytes of header and tables
     * @param rows how many rows the batch shall hold
     */
    void begin(long base, long header, long rows) {
        this.base = base;
        this.rows = rows;
        this.cursor = align(header);
    }

    long rows() {
        return rows;
    }

    /** Takes a buffer and returns its place in the segment. Meaningless when {@link #bytes} ends beyond the extent. */
    int take(long bytes) {
        long at = cursor;
        cursor = align(cursor + bytes);
        return (int) (base + at);
    }

    /** Bytes taken so far, from the start of the batch. */
    long bytes() {
        return cursor;
    }

    static long align(long bytes) {
        return (bytes + Layout.BATCH_ALIGN - 1) & -Layout.BATCH_ALIGN;
    }
}
