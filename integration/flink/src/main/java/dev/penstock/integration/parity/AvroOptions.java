package dev.penstock.integration.parity;

import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.AvroFormatFactory;
import org.apache.flink.formats.avro.registry.confluent.RegistryAvroFormatFactory;
import org.apache.flink.formats.avro.registry.confluent.debezium.DebeziumAvroFormatFactory;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * One setting of the options of Flink's formats of avro. The oracle comes out of Flink's factories; those of a registry
 * register their schema with a {@link StubRegistry}.
 *
 * @param format avro, avro-confluent or debezium-avro-confluent
 * @param legacy {@code timestamp_mapping.legacy}, which only avro has
 * @param id that the registry gives
 */
record AvroOptions(ParityFormat format, boolean legacy, int id) implements FormatOptions {
    static AvroOptions random(ParityFormat format, SplittableRandom random) {
        return new AvroOptions(format, format != ParityFormat.AVRO || random.nextBoolean(), random.nextInt());
    }

    @Override
    public SerializationSchema<RowData> oracle(RowType type) throws Exception {
        SerializationFormatFactory factory = switch (format) {
            case AVRO_CONFLUENT -> new RegistryAvroFormatFactory();
            case DEBEZIUM_AVRO_CONFLUENT -> new DebeziumAvroFormatFactory();
            default -> new AvroFormatFactory();
        };
        SerializationSchema<RowData> oracle = factory
                .createEncodingFormat(null, Configuration.fromMap(tableOptions()))
                .createRuntimeEncoder(null, TypeConversions.fromLogicalToDataType(type));
        oracle.open(null);
        return oracle;
    }

    @Override
    public Map<String, String> tableOptions() {
        return format == ParityFormat.AVRO
                ? Map.of("timestamp_mapping.legacy", String.valueOf(legacy))
                : Map.of("url", StubRegistry.url(id), "subject", "parity");
    }

    @Override
    public Format message() {
        return Format.newBuilder()
                .setAvro(AvroFormat.newBuilder()
                        .setRegistry(format != ParityFormat.AVRO)
                        .setDebezium(format == ParityFormat.DEBEZIUM_AVRO_CONFLUENT)
                        .setLocalTimestamps(!legacy))
                .build();
    }

    @Override
    public OptionalInt schemaId() {
        return format == ParityFormat.AVRO ? OptionalInt.empty() : OptionalInt.of(id);
    }
}
