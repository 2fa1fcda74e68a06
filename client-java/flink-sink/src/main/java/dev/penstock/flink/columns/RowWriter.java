package dev.penstock.flink.columns;

import dev.penstock.arena.vector.StructVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** ROW inside a row or a collection. A nested binary row has the layout of a top-level one. */
final class RowWriter extends ColumnWriter {
    private final StructVector struct;
    private final RowFields fields;

    RowWriter(Column column, RowFields fields) {
        this(column, fields, new StructVector(fields.vectors(), column.type().isNullable()));
    }

    private RowWriter(Column column, RowFields fields, StructVector struct) {
        super(column, struct);
        this.struct = struct;
        this.fields = fields;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return fields.write(row.getRow(field, fields.count())) && struct.append();
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return fields.write(array.getRow(index, fields.count())) && struct.append();
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return fields.writeDirect(source, row + offsetOf(source.getLong(slot))) && struct.append();
    }
}
