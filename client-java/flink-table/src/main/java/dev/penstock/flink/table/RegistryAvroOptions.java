package dev.penstock.flink.table;

import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.formats.avro.registry.confluent.AvroConfluentFormatOptions;
import org.apache.flink.formats.avro.registry.confluent.RegistryAvroFormatFactory;
import org.apache.flink.formats.avro.registry.confluent.debezium.DebeziumAvroFormatFactory;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * The options of Flink's {@code avro-confluent} and {@code debezium-avro-confluent} (formats.md 6). Only the explicit
 * schema changes the layout; all others are for the registry's client, which is Flink's own here as there. As in
 * {@link AvroOptions}, no class of Avro may be named.
 */
final class RegistryAvroOptions {

    private static final Set<ConfigOption<?>> OPTIONS =
            Set.of(
                    AvroConfluentFormatOptions.URL,
                    AvroConfluentFormatOptions.SUBJECT,
                    AvroConfluentFormatOptions.SCHEMA,
                    AvroConfluentFormatOptions.SSL_KEYSTORE_LOCATION,
                    AvroConfluentFormatOptions.SSL_KEYSTORE_PASSWORD,
                    AvroConfluentFormatOptions.SSL_TRUSTSTORE_LOCATION,
                    AvroConfluentFormatOptions.SSL_TRUSTSTORE_PASSWORD,
                    AvroConfluentFormatOptions.BASIC_AUTH_CREDENTIALS_SOURCE,
                    AvroConfluentFormatOptions.BASIC_AUTH_USER_INFO,
                    AvroConfluentFormatOptions.BEARER_AUTH_CREDENTIALS_SOURCE,
                    AvroConfluentFormatOptions.BEARER_AUTH_TOKEN);

    private static final Set<String> KNOWN =
            OPTIONS.stream().flatMap(RegistryAvroOptions::keys).collect(Collectors.toUnmodifiableSet());

    private static final String PROPERTIES = AvroConfluentFormatOptions.PROPERTIES.key();

    private RegistryAvroOptions() {}

    /** Reads the options and proves them as {@link JsonOptions#parse} does. */
    static Format parse(
            String identifier, Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(
                identifier,
                options,
                option -> KNOWN.contains(option) || option.equals(PROPERTIES) || option.startsWith(PROPERTIES + "."));
        Configuration configuration = Configuration.fromMap(options);
        if (configuration.contains(AvroConfluentFormatOptions.SCHEMA)) {
            throw new NotNative(
                    "'%s.%s' is set; only the schema that Flink derives from the table is native",
                    identifier, AvroConfluentFormatOptions.SCHEMA.key());
        }
        boolean debezium = identifier.equals(DebeziumAvroFormatFactory.IDENTIFIER);
        SerializationFormatFactory factory =
                debezium ? new DebeziumAvroFormatFactory() : new RegistryAvroFormatFactory();
        // Neither asks its contexts anything. Their equals covers schema, subject, url and the client's properties.
        SerializationSchema<RowData> ours =
                factory.createEncodingFormat(null, configuration)
                        .createRuntimeEncoder(null, TypeConversions.fromLogicalToDataType(rowType));
        if (!ours.equals(stock)) {
            throw FormatRules.unproven(identifier);
        }
        return Format.newBuilder()
                .setAvro(AvroFormat.newBuilder().setRegistry(true).setDebezium(debezium))
                .build();
    }

    /** The names under which an option may stand in the table. */
    private static Stream<String> keys(ConfigOption<?> option) {
        Stream.Builder<String> keys = Stream.<String>builder().add(option.key());
        option.fallbackKeys().forEach(fallback -> keys.add(fallback.getKey()));
        return keys.build();
    }
}
