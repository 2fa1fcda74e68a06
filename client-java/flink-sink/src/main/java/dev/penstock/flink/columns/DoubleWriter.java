package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** DOUBLE, bit for bit: NaN payloads are kept. */
final class DoubleWriter extends ColumnWriter {
    private final FixedVector values;

    DoubleWriter(Column column) {
        this(column, new FixedVector(8, column.type().isNullable()));
    }

    private DoubleWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(Double.doubleToRawLongBits(row.getDouble(field)));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(Double.doubleToRawLongBits(array.getDouble(index)));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getLong(slot));
    }
}
