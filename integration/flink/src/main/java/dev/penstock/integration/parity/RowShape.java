package dev.penstock.integration.parity;

import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.IntType;

/** The forms in which Flink's operators hand rows to a sink. */
enum RowShape {
    /** Boxed fields. */
    GENERIC,
    /** A binary row in a heap segment of its own. */
    BINARY,
    /** A binary row off heap and not at the segment's start, as managed memory holds it. */
    BINARY_OFF_HEAP,
    /** A binary row that goes over several segments. */
    BINARY_SEGMENTS;

    private static final int OFFSET = 24;

    /** Below Flink 2.2 a null among elements that are NOT NULL has no binary form: nobody looks for it before reading. */
    private static final boolean NULLS_AMONG_ELEMENTS = nullsAmongElements();

    /** Returns {@code row} in this form; the binary forms are copies. A row that has no binary form stays as it is. */
    RowData shape(RowData row, RowDataSerializer serializer) {
        if (this == GENERIC) {
            return row;
        }
        BinaryRowData binary;
        try {
            binary = serializer.toBinaryRow(row).copy();
        } catch (NullPointerException e) {
            if (NULLS_AMONG_ELEMENTS) {
                throw e;
            }
            return row;
        }
        return switch (this) {
            case BINARY_OFF_HEAP -> offHeap(binary);
            case BINARY_SEGMENTS -> segments(binary);
            default -> binary;
        };
    }

    private static boolean nullsAmongElements() {
        try {
            ArrayData.createElementGetter(new IntType(false)).getElementOrNull(new GenericArrayData(new Integer[1]), 0);
            return true;
        } catch (NullPointerException e) {
            return false;
        }
    }

    private static BinaryRowData offHeap(BinaryRowData row) {
        MemorySegment segment =
                MemorySegmentFactory.allocateUnpooledOffHeapMemory(OFFSET + row.getSizeInBytes());
        row.getSegments()[0].copyTo(row.getOffset(), segment, OFFSET, row.getSizeInBytes());
        BinaryRowData copy = new BinaryRowData(row.getArity());
        copy.pointTo(segment, OFFSET, row.getSizeInBytes());
        return copy;
    }

    // The fixed-length part must lie in the first segment, and all segments are of one size, a power of two.
    private static BinaryRowData segments(BinaryRowData row) {
        int size = Math.max(32, Integer.highestOneBit(row.getFixedLengthPartSize()) * 2);
        int count = (row.getSizeInBytes() + size - 1) / size;
        MemorySegment[] segments = new MemorySegment[count];
        for (int i = 0; i < count; i++) {
            segments[i] = MemorySegmentFactory.wrap(new byte[size]);
            row.getSegments()[0].copyTo(
                    row.getOffset() + i * size, segments[i], 0, Math.min(size, row.getSizeInBytes() - i * size));
        }
        BinaryRowData copy = new BinaryRowData(row.getArity());
        copy.pointTo(segments, 0, row.getSizeInBytes());
        return copy;
    }
}
