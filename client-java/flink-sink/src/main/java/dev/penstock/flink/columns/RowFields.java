package dev.penstock.flink.columns;

import dev.penstock.arena.vector.Vector;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;

/** The fields of one row type, top-level or nested, and the two ways through them. */
final class RowFields {
    private final ColumnWriter[] writers;

    /** Where the first slot lies in a binary row, behind the row kind and the null bits. */
    private final int firstSlot;

    RowFields(List<ColumnWriter> writers) {
        this.writers = writers.toArray(new ColumnWriter[0]);
        this.firstSlot = BinaryRowData.calculateBitSetWidthInBytes(writers.size());
    }

    int count() {
        return writers.length;
    }

    List<Vector> vectors() {
        return Arrays.stream(writers).map(ColumnWriter::vector).toList();
    }

    /** Writes all fields through the row's getters; false when one is full. */
    boolean write(RowData row) {
        for (int i = 0; i < writers.length; i++) {
            if (!writers[i].write(row, i)) {
                return false;
            }
        }
        return true;
    }

    /** Writes all fields of the binary row that begins at {@code row}; false when one is full. */
    boolean writeDirect(BinarySource source, int row) {
        int slot = row + firstSlot;
        for (int i = 0; i < writers.length; i++, slot += 8) {
            int bit = i + BinaryRowData.HEADER_SIZE_IN_BITS;
            boolean isNull = (source.getByte(row + (bit >>> 3)) >>> (bit & 7) & 1) != 0;
            if (!(isNull ? writers[i].writeNull() : writers[i].writeDirect(source, row, slot))) {
                return false;
            }
        }
        return true;
    }
}
