package dev.penstock.flink.columns;

import dev.penstock.arena.vector.BitVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** BOOLEAN. */
final class BooleanWriter extends ColumnWriter {
    private final BitVector values;

    BooleanWriter(Column column) {
        this(column, new BitVector(column.type().isNullable()));
    }

    private BooleanWriter(Column column, BitVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(row.getBoolean(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(array.getBoolean(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getByte(slot) != 0);
    }
}
