package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** BIGINT and INTERVAL DAY TO SECOND (milliseconds). */
final class BigIntWriter extends ColumnWriter {
    private final FixedVector values;

    BigIntWriter(Column column) {
        this(column, new FixedVector(8, column.type().isNullable()));
    }

    private BigIntWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return values.append(row.getLong(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return values.append(array.getLong(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return values.append(source.getLong(slot));
    }
}
