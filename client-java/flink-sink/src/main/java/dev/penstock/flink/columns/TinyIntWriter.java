package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** TINYINT. */
final class TinyIntWriter extends ColumnWriter {
    private final FixedVector values;

    TinyIntWriter(Column column) {
        this(column, new FixedVector(1, column.type().isNullable()));
    }

    private TinyIntWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(row.getByte(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(array.getByte(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getByte(slot));
    }
}
