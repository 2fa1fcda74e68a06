package dev.penstock.integration.parity;

import dev.penstock.flink.columns.Nullability;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.proto.v1.OpenWriter;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

/** Values of one format, without records around them. */
record ValueSubject(ParityFormat format, RowType type, FormatOptions options, SplittableRandom kinds)
        implements ParitySubject {
    @Override
    public Oracle oracle() throws Exception {
        SerializationSchema<RowData> serializer = options.oracle(type);
        return row -> WholeRecord.ofValue(serializer.serialize(row));
    }

    @Override
    public OpenWriter open() throws Exception {
        OpenWriter.Builder open = OpenWriter.newBuilder().setValueFormat(options.message());
        return open.setSchema(RowColumnWriter.toSchema(Nullability.columns(type, open.build()))).build();
    }

    @Override
    public SchemaNumbers schemas() {
        return new SchemaNumbers(OptionalInt.empty(), options.schemaId());
    }

    @Override
    public GenericRowData complete(GenericRowData row) {
        if (format.changelog()) {
            row.setRowKind(RowKind.values()[kinds.nextInt(RowKind.values().length)]);
        }
        return row;
    }

    @Override
    public String toString() {
        return type.asSerializableString() + "\n  " + options;
    }
}
