package dev.penstock.flink.table;

import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.AvroFormatOptions;
import org.apache.flink.formats.avro.AvroFormatOptions.AvroEncoding;
import org.apache.flink.formats.avro.AvroRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The options of Flink's {@code avro} format (formats.md 5.1). No class of Avro itself may be named here: some of
 * Flink's jars have it under another package.
 */
final class AvroOptions {

    /** The value of the option {@code format}. */
    static final String IDENTIFIER = "avro";

    private static final Set<String> KNOWN =
            Set.of(
                    AvroFormatOptions.AVRO_ENCODING.key(),
                    AvroFormatOptions.AVRO_TIMESTAMP_LEGACY_MAPPING.key());

    private AvroOptions() {}

    /** Reads the options and proves them as {@link JsonOptions#parse} does. */
    static Format parse(Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(IDENTIFIER, options, KNOWN::contains);
        Configuration configuration = Configuration.fromMap(options);
        AvroEncoding encoding = configuration.get(AvroFormatOptions.AVRO_ENCODING);
        if (encoding != AvroEncoding.BINARY) {
            throw new NotNative(
                    "'%s.%s' is '%s'; only '%s' is native",
                    IDENTIFIER, AvroFormatOptions.AVRO_ENCODING.key(), encoding, AvroEncoding.BINARY);
        }
        boolean legacy = configuration.get(AvroFormatOptions.AVRO_TIMESTAMP_LEGACY_MAPPING);
        // Flink's equals leaves out the encoding and the converter.
        if (!FormatRules.same(new AvroRowDataSerializationSchema(rowType, encoding, legacy), stock)) {
            throw FormatRules.unproven(IDENTIFIER);
        }
        return Format.newBuilder().setAvro(AvroFormat.newBuilder().setLocalTimestamps(!legacy)).build();
    }
}
