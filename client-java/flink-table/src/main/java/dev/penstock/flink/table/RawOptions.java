package dev.penstock.flink.table;

import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.RawFormat;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.raw.RawFormatOptions;
import org.apache.flink.formats.raw.RawFormatSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/** The options of Flink's {@code raw} format (formats.md 8). */
final class RawOptions {

    /** The value of the option {@code format}. */
    static final String IDENTIFIER = "raw";

    private static final Set<String> KNOWN =
            Set.of(RawFormatOptions.ENDIANNESS.key(), RawFormatOptions.CHARSET.key());

    private RawOptions() {}

    /**
     * Reads the options and proves them as {@link JsonOptions#parse} does.
     *
     * @param rowType one column, which Flink has checked
     */
    static Format parse(Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(IDENTIFIER, options, KNOWN::contains);
        Configuration configuration = Configuration.fromMap(options);
        String charset = configuration.get(RawFormatOptions.CHARSET);
        if (!Charset.forName(charset).equals(StandardCharsets.UTF_8)) {
            throw new NotNative("'raw.charset' is '%s'; only 'UTF-8' is native", charset);
        }
        LogicalType column = rowType.getTypeAt(0);
        if (column.is(LogicalTypeRoot.RAW)) {
            throw new NotNative(
                    "column '%s' has type RAW, whose bytes come from a Java serializer; cast it to BYTES",
                    rowType.getFieldNames().get(0));
        }
        boolean littleEndian =
                configuration.get(RawFormatOptions.ENDIANNESS).equalsIgnoreCase(RawFormatOptions.LITTLE_ENDIAN);
        if (!new RawFormatSerializationSchema(column, charset, !littleEndian).equals(stock)) {
            throw FormatRules.unproven(IDENTIFIER);
        }
        return Format.newBuilder().setRaw(RawFormat.newBuilder().setLittleEndian(littleEndian)).build();
    }
}
