package dev.penstock.flink.columns;

import dev.penstock.arena.vector.NullVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** NULL: whatever a row holds there, Flink's formats write a null. */
final class NullWriter extends ColumnWriter {
    NullWriter(Column column) {
        super(column, new NullVector());
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return writeNull();
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return writeNull();
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return writeNull();
    }
}
