package dev.penstock.flink.table;

import dev.penstock.flink.sink.RegistrySchema;
import dev.penstock.proto.v1.Format;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;

/**
 * What the formats of a schema registry need besides their bytes. Names no class of those formats: it is loaded for
 * tables of every format.
 */
final class SchemaRegistry {

    /** Writes rows; inserts only. */
    static final String AVRO = "avro-confluent";

    /** Writes rows in Debezium's envelope. */
    static final String DEBEZIUM = "debezium-avro-confluent";

    private static final String SUBJECT = "subject";
    private static final String URL = "url";

    /** Prefix of the names that the options had in earlier versions of Flink. */
    private static final String FORMER = "schema-registry.";

    private SchemaRegistry() {}

    /**
     * Adds the subject that Kafka's table factory gives to a format without one, when there is one topic
     * (KafkaConnectorOptionsUtil.autoCompleteSchemaRegistrySubject).
     *
     * @param part {@code value} or {@code key}
     * @param topic the option {@code topic}; null when the table has none
     * @param options of the format, without prefix; changed
     */
    static void completeSubject(String identifier, String part, String topic, Map<String, String> options) {
        boolean registry = identifier.equals(AVRO) || identifier.equals(DEBEZIUM);
        boolean named = options.containsKey(SUBJECT) || options.containsKey(FORMER + SUBJECT);
        if (registry && !named && topic != null && !topic.contains(";")) {
            options.put(SUBJECT, topic + "-" + part);
        }
    }

    /**
     * The schema whose id the writers have to learn, null when the format has none.
     *
     * @param format the daemon's form of the format, proven to be what {@code stock} writes
     * @param options of the format, without prefix
     * @param part what the stock sink gives to {@code stock}
     */
    static RegistrySchema schema(
            Format format,
            Map<String, String> options,
            SerializationSchema<RowData> stock,
            RegistrySchema.RowPart part) {
        if (!format.getAvro().getRegistry()) {
            return null;
        }
        return new RegistrySchema(option(options, SUBJECT), option(options, URL), stock, part);
    }

    private static String option(Map<String, String> options, String key) {
        return options.getOrDefault(key, options.getOrDefault(FORMER + key, ""));
    }
}
