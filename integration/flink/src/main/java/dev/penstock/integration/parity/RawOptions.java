package dev.penstock.integration.parity;

import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.RawFormat;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.raw.RawFormatSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The options of Flink's {@code raw} format; the charset is always UTF-8.
 *
 * @param littleEndian {@code endianness}
 */
record RawOptions(boolean littleEndian) implements FormatOptions {
    @Override
    public SerializationSchema<RowData> oracle(RowType type) throws Exception {
        RawFormatSerializationSchema oracle =
                new RawFormatSerializationSchema(type.getTypeAt(0), "UTF-8", !littleEndian);
        oracle.open(null);
        return oracle;
    }

    @Override
    public Map<String, String> tableOptions() {
        return Map.of("endianness", littleEndian ? "little-endian" : "big-endian");
    }

    @Override
    public Format message() {
        return Format.newBuilder().setRaw(RawFormat.newBuilder().setLittleEndian(littleEndian)).build();
    }
}
