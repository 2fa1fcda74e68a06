package dev.penstock.integration.parity;

import dev.penstock.proto.v1.ChangelogJsonFormat;
import dev.penstock.proto.v1.ChangelogJsonFormat.Envelope;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.json.canal.CanalJsonSerializationSchema;
import org.apache.flink.formats.json.debezium.DebeziumJsonSerializationSchema;
import org.apache.flink.formats.json.maxwell.MaxwellJsonSerializationSchema;
import org.apache.flink.formats.json.ogg.OggJsonSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * One setting of the options of Flink's {@code json} format that change bytes, for both sides. The changelog formats
 * have the same ones.
 *
 * @param format json, or the changelog format around it
 * @param timestamps {@code timestamp-format.standard}
 * @param nullKeys {@code map-null-key.mode}
 * @param nullKeyLiteral {@code map-null-key.literal}
 * @param plainDecimals {@code encode.decimal-as-plain-number}
 * @param ignoreNullFields {@code encode.ignore-null-fields}
 */
record JsonOptions(
        ParityFormat format,
        TimestampFormat timestamps,
        MapNullKeyMode nullKeys,
        String nullKeyLiteral,
        boolean plainDecimals,
        boolean ignoreNullFields)
        implements FormatOptions {
    private static final String[] LITERALS = {"null", "", "a", "q\"\\", "\uD83D\uDE00"};

    static JsonOptions random(ParityFormat format, SplittableRandom random) {
        return new JsonOptions(
                format,
                TimestampFormat.values()[random.nextInt(TimestampFormat.values().length)],
                MapNullKeyMode.values()[random.nextInt(MapNullKeyMode.values().length)],
                LITERALS[random.nextInt(LITERALS.length)],
                random.nextBoolean(),
                random.nextBoolean());
    }

    /** The constructor that Flink's serializers of all these formats have. */
    private interface Constructor {
        SerializationSchema<RowData> create(RowType type, TimestampFormat timestamps, MapNullKeyMode nullKeys,
                String nullKeyLiteral, boolean plainDecimals, boolean ignoreNullFields);
    }

    @Override
    public SerializationSchema<RowData> oracle(RowType type) throws Exception {
        Constructor constructor = switch (format) {
            case DEBEZIUM_JSON -> DebeziumJsonSerializationSchema::new;
            case CANAL_JSON -> CanalJsonSerializationSchema::new;
            case MAXWELL_JSON -> MaxwellJsonSerializationSchema::new;
            case OGG_JSON -> OggJsonSerializationSchema::new;
            default -> JsonRowDataSerializationSchema::new;
        };
        SerializationSchema<RowData> oracle =
                constructor.create(type, timestamps, nullKeys, nullKeyLiteral, plainDecimals, ignoreNullFields);
        oracle.open(null);
        return oracle;
    }

    @Override
    public Map<String, String> tableOptions() {
        return Map.of(
                "timestamp-format.standard", timestamps == TimestampFormat.SQL ? "SQL" : "ISO-8601",
                "map-null-key.mode", nullKeys.name(),
                "map-null-key.literal", nullKeyLiteral,
                "encode.decimal-as-plain-number", Boolean.toString(plainDecimals),
                "encode.ignore-null-fields", Boolean.toString(ignoreNullFields));
    }

    @Override
    public Format message() {
        if (format == ParityFormat.JSON) {
            return Format.newBuilder().setJson(rows()).build();
        }
        return Format.newBuilder()
                .setChangelogJson(ChangelogJsonFormat.newBuilder().setEnvelope(envelope()).setJson(rows()))
                .build();
    }

    private Envelope envelope() {
        return switch (format) {
            case DEBEZIUM_JSON -> Envelope.DEBEZIUM;
            case CANAL_JSON -> Envelope.CANAL;
            case MAXWELL_JSON -> Envelope.MAXWELL;
            case OGG_JSON -> Envelope.OGG;
            default -> throw new IllegalStateException(format + " has no envelope");
        };
    }

    private JsonFormat.Builder rows() {
        return JsonFormat.newBuilder()
                .setTimestampFormat(JsonFormat.TimestampFormat.valueOf(timestamps.name()))
                .setMapNullKeyMode(JsonFormat.MapNullKeyMode.valueOf(nullKeys.name()))
                .setMapNullKeyLiteral(nullKeyLiteral)
                .setEncodeDecimalAsPlainNumber(plainDecimals)
                .setEncodeIgnoreNullFields(ignoreNullFields);
    }
}
