package dev.penstock.integration.parity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * A random Kafka table: formats of key and value, which columns are in which, metadata, topics and partitioner.
 *
 * @param upsert whether it is an upsert table, whose key is its primary key
 * @param physical the physical columns
 * @param key names of the key's columns in the key's order; empty for none
 * @param metadata keys of the metadata columns, in the connector's order
 * @param topics one or more
 * @param valueFormat what the value is written in
 * @param schemas the ids that a schema registry gives for the table
 * @param fixed whether the partitioner is {@code fixed}
 * @param options the options of the connector but for its name
 */
record RandomTable(
        boolean upsert,
        RowType physical,
        List<String> key,
        List<String> metadata,
        List<String> topics,
        ParityFormat valueFormat,
        SchemaNumbers schemas,
        boolean fixed,
        Map<String, String> options) {

    /** The metadata that the connector can write, in its order (KafkaDynamicSink.WritableMetadata). */
    static final Map<String, DataType> METADATA = new LinkedHashMap<>();

    static {
        METADATA.put("topic", DataTypes.STRING().notNull());
        METADATA.put("headers", DataTypes.MAP(DataTypes.STRING(), DataTypes.BYTES()));
        METADATA.put("timestamp", DataTypes.TIMESTAMP_LTZ(3));
    }

    private static final ParityFormat[] INSERT_ONLY = known(
            ParityFormat.JSON, ParityFormat.CSV, ParityFormat.RAW, ParityFormat.AVRO, ParityFormat.AVRO_CONFLUENT,
            ParityFormat.PROTOBUF);
    private static final ParityFormat[] ANY = known(
            ParityFormat.JSON, ParityFormat.CSV, ParityFormat.RAW, ParityFormat.AVRO, ParityFormat.AVRO_CONFLUENT,
            ParityFormat.PROTOBUF, ParityFormat.DEBEZIUM_JSON, ParityFormat.CANAL_JSON, ParityFormat.MAXWELL_JSON,
            ParityFormat.OGG_JSON, ParityFormat.DEBEZIUM_AVRO_CONFLUENT);
    /** Headers are native with this line of the connector. */
    private static final boolean HEADERS =
            String.valueOf(KafkaSink.class.getPackage().getImplementationVersion()).startsWith("5.0.");
    private static final String PREFIX = "key_";

    static RandomTable random(SplittableRandom random, boolean upsert) {
        ParityFormat keyFormat = INSERT_ONLY[random.nextInt(INSERT_ONLY.length)];
        ParityFormat[] formats = upsert ? INSERT_ONLY : ANY;
        ParityFormat valueFormat = formats[random.nextInt(formats.length)];
        boolean hasKey = upsert || random.nextInt(4) != 0;
        boolean exceptKey = hasKey && (apart(keyFormat, valueFormat) || random.nextBoolean());
        Columns columns = new Columns(random);
        ParityTable keyTable = keyFormat.randomTable(random);
        if (hasKey) {
            // What csv refuses, a key that is in a csv value may not have.
            boolean csv = valueFormat == ParityFormat.CSV && keyFormat == ParityFormat.JSON;
            columns.add(PREFIX, (csv ? ParityFormat.CSV.randomTable(random) : keyTable).type(), upsert);
        }
        List<String> key = columns.shuffledNames();
        ParityTable valueTable = valueFormat.randomTable(random);
        // The columns of protobuf are fields of its message.
        columns.add(valueFormat == ParityFormat.PROTOBUF ? "" : "v_", valueTable.type(), false);
        List<String> topics = random.nextInt(4) == 0 ? List.of("a", "b.2", "c_3") : List.of("flights");
        List<String> metadata = new ArrayList<>();
        for (String name : METADATA.keySet()) {
            boolean free = HEADERS || !name.equals("headers");
            if (name.equals("topic") ? topics.size() > 1 : free && random.nextInt(3) == 0) {
                metadata.add(name);
            }
        }
        boolean fixed = !upsert && random.nextInt(4) == 0;
        Map<String, String> options = new HashMap<>();
        options.put("topic", String.join(";", topics));
        options.put("properties.bootstrap.servers", "localhost:1");
        options.put("value.fields-include", exceptKey ? "EXCEPT_KEY" : "ALL");
        if (hasKey) {
            format(options, "key", keyFormat, keyTable.options());
            if (exceptKey && (keyFormat == ParityFormat.PROTOBUF || random.nextBoolean())) {
                options.put("key.fields-prefix", PREFIX);
            }
            if (!upsert) {
                String option = KafkaConnectorOptions.KEY_FIELDS.key();
                options.put(option, new Configuration().set(KafkaConnectorOptions.KEY_FIELDS, key).toMap().get(option));
            }
        }
        format(options, "value", valueFormat, valueTable.options());
        if (fixed) {
            options.put("sink.partitioner", "fixed");
        }
        SchemaNumbers schemas = new SchemaNumbers(
                hasKey ? keyTable.options().schemaId() : OptionalInt.empty(), valueTable.options().schemaId());
        return new RandomTable(
                upsert, columns.shuffled(), key, metadata, topics, valueFormat, schemas, fixed, options);
    }

    /**
     * Whether the key's columns are in no value. Raw is one column; a key that were in the value would be a second one.
     * The fields of a message and the types and names of avro are such that what the other part has would mostly be refused.
     */
    private static boolean apart(ParityFormat key, ParityFormat value) {
        boolean protobuf = key == ParityFormat.PROTOBUF || value == ParityFormat.PROTOBUF;
        return value == ParityFormat.RAW || protobuf || value.isAvro() != key.isAvro();
    }

    /** Those that are native in this line of Flink: protobuf is from 2.2 on. */
    private static ParityFormat[] known(ParityFormat... formats) {
        boolean protobuf = EnvironmentInformation.getVersion().compareTo("2.2") >= 0;
        return Arrays.stream(formats).filter(f -> protobuf || f != ParityFormat.PROTOBUF).toArray(ParityFormat[]::new);
    }

    private static void format(Map<String, String> into, String part, ParityFormat format, FormatOptions options) {
        into.put(part + ".format", format.identifier());
        options.tableOptions()
                .forEach((option, value) -> into.put(part + "." + format.identifier() + "." + option, value));
    }

    /** Whether rows of all kinds are written. */
    boolean takesKinds() {
        return upsert || valueFormat.changelog();
    }

    @Override
    public String toString() {
        return physical.asSerializableString() + "\n  " + (upsert ? "upsert, " : "") + "key " + key + ", metadata "
                + metadata + ", " + options;
    }

    /** Columns being collected. */
    private static final class Columns {
        private final SplittableRandom random;
        private final List<String> names = new ArrayList<>();
        private final List<LogicalType> types = new ArrayList<>();

        Columns(SplittableRandom random) {
            this.random = random;
        }

        void add(String prefix, RowType more, boolean notNull) {
            more.getFieldNames().forEach(name -> names.add(prefix + name));
            more.getChildren().forEach(type -> types.add(notNull && !type.is(LogicalTypeRoot.NULL) ? type.copy(false) : type));
        }

        List<String> shuffledNames() {
            List<String> shuffled = new ArrayList<>(names);
            Collections.shuffle(shuffled, new Random(random.nextLong()));
            return shuffled;
        }

        RowType shuffled() {
            List<String> order = shuffledNames();
            LogicalType[] ordered = order.stream().map(n -> types.get(names.indexOf(n))).toArray(LogicalType[]::new);
            return RowType.of(false, ordered, order.toArray(new String[0]));
        }
    }
}
