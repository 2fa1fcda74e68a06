package dev.penstock.flink.table;

import dev.penstock.proto.v1.JsonFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonFormatOptionsUtil;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** The options of Flink's {@code json} format that change bytes (formats.md 2.1). */
final class JsonOptions {

    private static final Set<String> ENCODING =
            Set.of(
                    JsonFormatOptions.TIMESTAMP_FORMAT.key(),
                    JsonFormatOptions.MAP_NULL_KEY_MODE.key(),
                    JsonFormatOptions.MAP_NULL_KEY_LITERAL.key(),
                    JsonFormatOptions.ENCODE_DECIMAL_AS_PLAIN_NUMBER.key(),
                    JsonFormatOptions.ENCODE_IGNORE_NULL_FIELDS.key());

    private static final Set<String> DECODING_ONLY =
            Set.of(
                    JsonFormatOptions.FAIL_ON_MISSING_FIELD.key(),
                    JsonFormatOptions.IGNORE_PARSE_ERRORS.key(),
                    JsonFormatOptions.DECODE_JSON_PARSER_ENABLED.key());

    private final TimestampFormat timestamps;
    private final MapNullKeyMode nullKeys;
    private final String nullKeyLiteral;
    private final boolean plainDecimals;
    private final boolean ignoreNulls;

    private JsonOptions(Configuration options) {
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
    static JsonOptions parse(Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        Set<String> unknown = new TreeSet<>(options.keySet());
        unknown.removeAll(ENCODING);
        unknown.removeAll(DECODING_ONLY);
        if (!unknown.isEmpty()) {
            throw new NotNative(
                    "Penstock does not know the option 'json.%s'; leave it away", unknown.iterator().next());
        }
        JsonOptions parsed = new JsonOptions(Configuration.fromMap(options));
        if (!parsed.serializer(rowType).equals(stock)) {
            throw new NotNative(
                    "the json serializer that Flink made is not the one that the table's options describe; write the"
                            + " 'json.' options into the table, not only into the compiled plan");
        }
        return parsed;
    }

    /** Whether fields that are null are left out. */
    boolean ignoresNulls() {
        return ignoreNulls;
    }

    /** The daemon's form. */
    JsonFormat toProto() {
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

    private JsonRowDataSerializationSchema serializer(RowType rowType) {
        return new JsonRowDataSerializationSchema(
                rowType, timestamps, nullKeys, nullKeyLiteral, plainDecimals, ignoreNulls);
    }
}
