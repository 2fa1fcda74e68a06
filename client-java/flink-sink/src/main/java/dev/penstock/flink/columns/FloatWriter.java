package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** FLOAT, bit for bit: NaN payloads are kept. */
final class FloatWriter extends ColumnWriter {
    private final FixedVector values;

    FloatWriter(Column column) {
        this(column, new FixedVector(4, column.type().isNullable()));
    }

    private FloatWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(Float.floatToRawIntBits(row.getFloat(field)));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(Float.floatToRawIntBits(array.getFloat(index)));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getInt(slot));
    }
}
