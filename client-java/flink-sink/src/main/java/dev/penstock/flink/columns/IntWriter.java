package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** INTEGER, DATE (days), TIME (milliseconds whatever its precision) and INTERVAL YEAR TO MONTH (months). */
final class IntWriter extends ColumnWriter {
    private final FixedVector values;

    IntWriter(Column column) {
        this(column, new FixedVector(4, column.type().isNullable()));
    }

    private IntWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(row.getInt(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(array.getInt(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getInt(slot));
    }
}
