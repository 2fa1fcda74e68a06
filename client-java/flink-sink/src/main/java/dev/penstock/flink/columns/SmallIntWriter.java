package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** SMALLINT. */
final class SmallIntWriter extends ColumnWriter {
    private final FixedVector values;

    SmallIntWriter(Column column) {
        this(column, new FixedVector(2, column.type().isNullable()));
    }

    private SmallIntWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(row.getShort(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(array.getShort(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getShort(slot));
    }
}
