package dev.penstock.flink.table;

import dev.penstock.proto.v1.ChangelogJsonFormat.Envelope;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.formats.json.canal.CanalJsonFormatOptions;
import org.apache.flink.formats.json.canal.CanalJsonSerializationSchema;
import org.apache.flink.formats.json.debezium.DebeziumJsonFormatOptions;
import org.apache.flink.formats.json.debezium.DebeziumJsonSerializationSchema;
import org.apache.flink.formats.json.maxwell.MaxwellJsonSerializationSchema;
import org.apache.flink.formats.json.ogg.OggJsonSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The formats of flink-json: {@code json} itself and the changelog formats that wrap its rows (formats.md 3). All have
 * the same options where bytes are concerned, each under its own prefix.
 */
enum JsonFamily {
    JSON(
            "json",
            Envelope.ENVELOPE_UNSPECIFIED,
            JsonRowDataSerializationSchema::new,
            JsonFormatOptions.FAIL_ON_MISSING_FIELD.key(),
            JsonFormatOptions.DECODE_JSON_PARSER_ENABLED.key()),
    DEBEZIUM(
            "debezium-json",
            Envelope.DEBEZIUM,
            DebeziumJsonSerializationSchema::new,
            // Flink itself refuses a sink with the value true.
            DebeziumJsonFormatOptions.SCHEMA_INCLUDE.key()),
    CANAL(
            "canal-json",
            Envelope.CANAL,
            CanalJsonSerializationSchema::new,
            CanalJsonFormatOptions.DATABASE_INCLUDE.key(),
            CanalJsonFormatOptions.TABLE_INCLUDE.key()),
    MAXWELL("maxwell-json", Envelope.MAXWELL, MaxwellJsonSerializationSchema::new),
    OGG("ogg-json", Envelope.OGG, OggJsonSerializationSchema::new);

    private final String identifier;
    private final Envelope envelope;
    private final Serializers serializers;
    private final Set<String> decodingOnly;

    JsonFamily(String identifier, Envelope envelope, Serializers serializers, String... decodingOnly) {
        this.identifier = identifier;
        this.envelope = envelope;
        this.serializers = serializers;
        this.decodingOnly = Set.of(decodingOnly);
    }

    /** The constructor that the serializers of all these formats have. */
    interface Serializers {
        /** Flink's serializer with these options, not opened. */
        SerializationSchema<RowData> create(
                RowType type,
                TimestampFormat timestamps,
                MapNullKeyMode nullKeys,
                String nullKeyLiteral,
                boolean plainDecimals,
                boolean ignoreNulls);
    }

    /** The format with this identifier, if it is one of these. */
    static Optional<JsonFamily> of(String identifier) {
        return Stream.of(values()).filter(format -> format.identifier.equals(identifier)).findFirst();
    }

    /** The value of the option {@code format}. */
    String identifier() {
        return identifier;
    }

    /** What is around a row; unspecified for plain json. */
    Envelope envelope() {
        return envelope;
    }

    Serializers serializers() {
        return serializers;
    }

    /** Whether an option is known to say something about reading only. */
    boolean decodesOnly(String option) {
        return option.equals(JsonFormatOptions.IGNORE_PARSE_ERRORS.key()) || decodingOnly.contains(option);
    }
}
