package dev.penstock.arena.vector;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows as Arrow columns in one extent; the order of calls stands in the package comment. The same object serves one
 * batch after another, which is how the quotas learn.
 */
public final class Batch {
    /** No batch is laid out for more rows, however little one row takes: readers cap rows that occupy no bytes. */
    private static final int MAX_ROWS = 1 << 20;

    private final Vector[] columns;
    private final Vector[] nodes;
    private final Space space = new Space();
    private final Directory directory = new Directory();
    private final int schemaTag;
    private final int bufferCount;
    private final long tableBytes;

    private Extent extent;
    private ByteBuffer segment;
    private int kindsAt;
    private int rowCapacity;
    private int rows;
    private int kindsSeen;

    /**
     * @param columns the fields of the top-level row
     * @param schemaTag the number that slot and header carry for this schema
     */
    public Batch(List<? extends Vector> columns, int schemaTag) {
        this.columns = columns.toArray(new Vector[0]);
        this.schemaTag = schemaTag;
        List<Vector> inOrder = new ArrayList<>();
        columns.forEach(column -> collect(column, inOrder));
        nodes = inOrder.toArray(new Vector[0]);
        // The row kinds are buffer 0.
        bufferCount = 1 + inOrder.stream().mapToInt(Vector::bufferCount).sum();
        tableBytes = Layout.BATCH_HEADER_BYTES
                + (long) nodes.length * Layout.BATCH_NODE_BYTES
                + (long) bufferCount * Layout.BATCH_BUFFER_BYTES;
    }

    private static void collect(Vector vector, List<Vector> inOrder) {
        inOrder.add(vector);
        for (Vector child : vector.children()) {
            collect(child, inOrder);
        }
    }

    /** Names the extent of the coming batch. Nothing is written before {@link #place}. */
    public void begin(Extent next) {
        extent = next;
        segment = next.segment().order() == ByteOrder.LITTLE_ENDIAN
                ? next.segment()
                : next.segment().duplicate().order(ByteOrder.LITTLE_ENDIAN);
        rows = 0;
        rowCapacity = 0;
        kindsSeen = 0;
    }

    /** Whether an extent is named that has no layout yet, so that {@link #place} must come before the first row. */
    public boolean unplaced() {
        return rowCapacity == 0;
    }

    /**
     * Lays out the buffers for as many rows as the averages promise, and at least for one row like the measured one.
     *
     * @param scale a batch of the same schema whose vectors measure, holding exactly one row
     * @return false when not even that row fits into the extent
     */
    public boolean place(Batch scale) {
        if (extent == null) {
            throw new IllegalStateException("no extent: begin comes before the first row");
        }
        weigh(scale);
        if (bytesFor(1) > extent.capacity()) {
            return false;
        }
        long low = 1;
        long high = Math.min(MAX_ROWS, extent.capacity());
        while (low < high) {
            long middle = (low + high + 1) >>> 1;
            if (bytesFor(middle) <= extent.capacity()) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        bytesFor(low); // the search may have ended on another number; this leaves every vector at its final place
        rowCapacity = (int) low;
        for (Vector column : columns) {
            column.bind(segment);
        }
        return true;
    }

    /** Bytes of an extent that holds one row like the measured one; a multiple of 64. Does not touch an open batch. */
    public static long minimumBytes(Batch scale) {
        scale.weigh(scale);
        return scale.bytesFor(1);
    }

    /** Empties a scale before it measures another row. */
    public void reset() {
        for (Vector column : columns) {
            column.reset();
        }
    }

    private void weigh(Batch scale) {
        for (int i = 0; i < nodes.length; i++) {
            Quota quota = nodes[i].quota();
            if (quota != null) {
                quota.need(scale.nodes[i].used());
            }
        }
    }

    private long bytesFor(long rowsToHold) {
        space.begin(extent == null ? 0 : extent.offset(), tableBytes, rowsToHold);
        kindsAt = space.take(rowsToHold);
        for (Vector column : columns) {
            column.place(space, rowsToHold);
        }
        return space.bytes();
    }

    /** Whether no further row may be appended. */
    public boolean full() {
        return rows >= rowCapacity;
    }

    /** Counts a row that every column has got. {@code kind} is RowKind's byte value, 0 for INSERT. */
    public void commit(byte kind) {
        segment.put(kindsAt + rows, kind);
        kindsSeen |= kind;
        rows++;
    }

    /** Takes back whatever part of an uncommitted row the columns have got. */
    public void rollback() {
        for (Vector column : columns) {
            column.truncate(rows);
        }
    }

    /** Rows committed since {@link #begin}. */
    public int rowCount() {
        return rows;
    }

    /** Flags for slot and header: {@link Layout#BATCH_FLAG_ALL_INSERT} or 0. */
    public int flags() {
        return kindsSeen == 0 ? Layout.BATCH_FLAG_ALL_INSERT : 0;
    }

    /**
     * Writes header and tables and closes the batch.
     *
     * @return the body bytes, a multiple of 64
     * @throws IllegalStateException when the batch has no rows: there is nothing to send
     */
    public int finish() {
        if (rows == 0) {
            throw new IllegalStateException("finish of a batch without rows");
        }
        int base = extent.offset();
        long compact = describe(null, base, true);
        long spread = describe(null, base, false);
        // A batch that a barrier or the linger time closed early would otherwise be as long as a full one, and credits
        // are counted in bytes; for an almost full one the copy is not worth it.
        long body = describe(segment, base, compact < spread / 2);
        segment.putInt(base + Layout.BATCH_OFF_MAGIC, Layout.BATCH_MAGIC);
        segment.putShort(base + Layout.BATCH_OFF_VERSION, (short) Layout.BATCH_VERSION);
        segment.putShort(base + Layout.BATCH_OFF_FLAGS, (short) flags());
        segment.putInt(base + Layout.BATCH_OFF_ROW_COUNT, rows);
        segment.putInt(base + Layout.BATCH_OFF_NODE_COUNT, nodes.length);
        segment.putInt(base + Layout.BATCH_OFF_BUFFER_COUNT, bufferCount);
        segment.putInt(base + Layout.BATCH_OFF_SCHEMA_TAG, schemaTag);
        segment.putLong(base + Layout.BATCH_OFF_BODY_BYTES, body);
        for (int at = Layout.BATCH_OFF_BODY_BYTES + 8; at < Layout.BATCH_HEADER_BYTES; at += 8) {
            segment.putLong(base + at, 0);
        }
        learn();
        rowCapacity = 0;
        extent = null;
        return (int) body;
    }

    /** Writes the tables, or only computes where they would end when {@code target} is null; returns the body bytes. */
    private long describe(ByteBuffer target, int base, boolean compact) {
        directory.begin(target, base, nodes.length, bufferCount, compact);
        directory.buffer(kindsAt, kindsSeen == 0 ? 0 : rows);
        for (Vector column : columns) {
            column.describe(directory);
        }
        return directory.end();
    }

    private void learn() {
        for (Vector node : nodes) {
            if (node.quota() != null) {
                node.quota().observe(node.used(), rows);
            }
        }
    }
}
