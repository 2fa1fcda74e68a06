package dev.penstock.integration.parity;

import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.ValueFormat;
import java.util.SplittableRandom;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.table.types.logical.RowType;

/**
 * One setting of the options of Flink's {@code json} format that change bytes, for both sides.
 *
 * @param timestamps {@code timestamp-format.standard}
 * @param nullKeys {@code map-null-key.mode}
 * @param nullKeyLiteral {@code map-null-key.literal}
 * @param plainDecimals {@code encode.decimal-as-plain-number}
 * @param ignoreNullFields {@code encode.ignore-null-fields}
 */
record JsonOptions(
        TimestampFormat timestamps,
        MapNullKeyMode nullKeys,
        String nullKeyLiteral,
        boolean plainDecimals,
        boolean ignoreNullFields) {
    private static final String[] LITERALS = {"null", "", "a", "q\"\\", "\uD83D\uDE00"};

    static JsonOptions random(SplittableRandom random) {
        return new JsonOptions(
                TimestampFormat.values()[random.nextInt(TimestampFormat.values().length)],
                MapNullKeyMode.values()[random.nextInt(MapNullKeyMode.values().length)],
                LITERALS[random.nextInt(LITERALS.length)],
                random.nextBoolean(),
                random.nextBoolean());
    }

    /** Flink's own serializer with these options, opened. */
    JsonRowDataSerializationSchema oracle(RowType type) throws Exception {
        JsonRowDataSerializationSchema oracle = new JsonRowDataSerializationSchema(
                type, timestamps, nullKeys, nullKeyLiteral, plainDecimals, ignoreNullFields);
        oracle.open(null);
        return oracle;
    }

    ValueFormat message() {
        return ValueFormat.newBuilder()
                .setJson(JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.valueOf(timestamps.name()))
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.valueOf(nullKeys.name()))
                        .setMapNullKeyLiteral(nullKeyLiteral)
                        .setEncodeDecimalAsPlainNumber(plainDecimals)
                        .setEncodeIgnoreNullFields(ignoreNullFields))
                .build();
    }
}
