package dev.penstock.flink.table;

import dev.penstock.proto.v1.ChangelogJsonFormat;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonFormatOptionsUtil;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** The options of a format of flink-json that change bytes (formats.md 2.1 and 3). */
final class JsonOptions {

    private static final Set<String> ENCODING =
            Set.of(
                    JsonFormatOptions.TIMESTAMP_FORMAT.key(),
                    JsonFormatOptions.MAP_NULL_KEY_MODE.key(),
                    JsonFormatOptions.MAP_NULL_KEY_LITERAL.key(),
                    JsonFormatOptions.ENCODE_DECIMAL_AS_PLAIN_NUMBER.key(),
                    JsonFormatOptions.ENCODE_IGNORE_NULL_FIELDS.key());

    private final JsonFamily format;
    private final TimestampFormat timestamps;
    private final MapNullKeyMode nullKeys;
    private final String nullKeyLiteral;
    private final boolean plainDecimals;
    private final boolean ignoreNulls;

    private JsonOptions(JsonFamily format, Configuration options) {
        this.format = format;
        timestamps = JsonFormatOptionsUtil.getTimestampFormat(options);
        nullKeys = JsonFormatOptionsUtil.getMapNullKeyMode(options);
        nullKeyLiteral = options.get(JsonFormatOptions.MAP_NULL_KEY_LITERAL);
        plainDecimals = options.get(JsonFormatOptions.ENCODE_DECIMAL_AS_PLAIN_NUMBER);
        ignoreNulls = options.get(JsonFormatOptions.ENCODE_IGNORE_NULL_FIELDS);
    }

    /**
     * Reads the format's options and proves them: the serializer they make must equal the one that the stock sink will
     * use.
     *
     * @param options the format's options without prefix
     * @param stock the stock sink's serializer for {@code rowType}
     */
    static JsonOptions parse(
            JsonFamily format, Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(
                format.identifier(), options, key -> ENCODING.contains(key) || format.decodesOnly(key));
        JsonOptions parsed = new JsonOptions(format, Configuration.fromMap(options));
        if (!parsed.serializer(rowType).equals(stock)) {
            throw FormatRules.unproven(format.identifier());
        }
        FormatRules.requireUnicode(
                format.identifier(), JsonFormatOptions.MAP_NULL_KEY_LITERAL.key(), parsed.nullKeyLiteral);
        return parsed;
    }

    /** The daemon's form. */
    Format toProto() {
        if (format == JsonFamily.JSON) {
            return Format.newBuilder().setJson(rows()).build();
        }
        return Format.newBuilder()
                .setChangelogJson(
                        ChangelogJsonFormat.newBuilder().setEnvelope(format.envelope()).setJson(rows()))
                .build();
    }

    private JsonFormat rows() {
        return JsonFormat.newBuilder()
                .setTimestampFormat(
                        switch (timestamps) {
                            case SQL -> JsonFormat.TimestampFormat.SQL;
                            case ISO_8601 -> JsonFormat.TimestampFormat.ISO_8601;
                        })
                .setMapNullKeyMode(
                        switch (nullKeys) {
                            case FAIL -> JsonFormat.MapNullKeyMode.FAIL;
                            case DROP -> JsonFormat.MapNullKeyMode.DROP;
                            case LITERAL -> JsonFormat.MapNullKeyMode.LITERAL;
                        })
                .setMapNullKeyLiteral(nullKeyLiteral)
                .setEncodeDecimalAsPlainNumber(plainDecimals)
                .setEncodeIgnoreNullFields(ignoreNulls)
                .build();
    }

    private SerializationSchema<RowData> serializer(RowType rowType) {
        return format.serializers()
                .create(rowType, timestamps, nullKeys, nullKeyLiteral, plainDecimals, ignoreNulls);
    }
}
