package dev.penstock.flink.table;

import dev.penstock.flink.sink.RegistrySchema;
import java.util.Arrays;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

/** The row of a key or of a value, as DynamicKafkaRecordSerializationSchema makes it for the serializer of that part. */
final class RecordPart implements RegistrySchema.RowPart {

    private static final long serialVersionUID = 1L;

    private final RowData.FieldGetter[] fields;
    private final boolean insert;
    private final boolean tombstones;

    private RecordPart(RowType row, int[] columns, boolean insert, boolean tombstones) {
        this.fields =
                Arrays.stream(columns)
                        .mapToObj(column -> RowData.createFieldGetter(row.getTypeAt(column), column))
                        .toArray(RowData.FieldGetter[]::new);
        this.insert = insert;
        this.tombstones = tombstones;
    }

    /** A key, which is always an INSERT. */
    static RecordPart key(RowType row, int[] columns) {
        return new RecordPart(row, columns, true, false);
    }

    /** A value; that of an upsert table is an INSERT, or nothing. */
    static RecordPart value(RowType row, int[] columns, boolean upsert) {
        return new RecordPart(row, columns, upsert, upsert);
    }

    @Override
    public RowData of(RowData row) {
        RowKind kind = row.getRowKind();
        if (tombstones && (kind == RowKind.DELETE || kind == RowKind.UPDATE_BEFORE)) {
            return null;
        }
        GenericRowData part = new GenericRowData(insert ? RowKind.INSERT : kind, fields.length);
        for (int i = 0; i < fields.length; i++) {
            part.setField(i, fields[i].getFieldOrNull(row));
        }
        return part;
    }
}
