package dev.penstock.flink.table;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.UniqueConstraint;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/**
 * The sink of {@code penstock-kafka} for programs of the DataStream API. It is made of the same options by the same factories as the
 * sink of a table, so formats, guarantees, savepoints and the decision between native and stock are those of a table with these options.
 *
 * <pre>{@code
 * PenstockSink.builder()
 *     .rowType(rowType)
 *     .bootstrapServers("localhost:9092")
 *     .topic("flights")
 *     .option("format", "json")
 *     .deliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
 *     .transactionalIdPrefix("flights")
 *     .kafkaProperty("transaction.timeout.ms", "900000")
 *     .writeTo(rows)
 *     .uid("flights-sink");
 * }</pre>
 *
 * <p>What the planner does in front of a table's sink, nobody does here: nothing enforces NOT NULL or lengths, and rows of all kinds come as
 * they are. Formats without a place for the kind of a row write an UPDATE_BEFORE like an INSERT, as stock's do. Columns of metadata
 * need a table.
 */
public final class PenstockSink {

    private PenstockSink() {}

    /** A sink without options. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects what a table's DDL would say. Not safe for concurrent use; may build several sinks. */
    public static final class Builder {

        private final Map<String, String> options = new LinkedHashMap<>();
        private RowType rowType;
        private List<String> primaryKey = List.of();
        private String name = "sink";
        private ReadableConfig configuration;

        private Builder() {}

        /** The columns of the rows: RowData of exactly this type is written. Required. */
        public Builder rowType(RowType type) {
            rowType = Objects.requireNonNull(type, "type");
            return this;
        }

        /**
         * Makes it an upsert sink, as {@code upsert-kafka} with this PRIMARY KEY: the newest row of a key is its record, a DELETE or
         * UPDATE_BEFORE its tombstone. Rows of one key must come from one subtask: {@code keyBy} them.
         */
        public Builder primaryKey(String... columns) {
            primaryKey = List.of(columns);
            return this;
        }

        /** Names the sink in messages as a table's name does; {@code sink} otherwise. Not the name of its operator. */
        public Builder name(String sink) {
            name = Objects.requireNonNull(sink, "sink");
            return this;
        }

        /** The topic. Required; several need a column of metadata and so a table. */
        public Builder topic(String topic) {
            return option(KafkaConnectorOptions.TOPIC.key(), topic);
        }

        /** The brokers, {@code host:port} with commas. Required. */
        public Builder bootstrapServers(String servers) {
            return kafkaProperty("bootstrap.servers", servers);
        }

        /** The guarantee; {@code AT_LEAST_ONCE} otherwise, as for a table. */
        public Builder deliveryGuarantee(DeliveryGuarantee guarantee) {
            return option(KafkaConnectorOptions.DELIVERY_GUARANTEE.key(), guarantee.toString());
        }

        /** The beginning of all transactional ids, required for EXACTLY_ONCE; no other sink on these brokers may have it. */
        public Builder transactionalIdPrefix(String prefix) {
            return option(KafkaConnectorOptions.TRANSACTIONAL_ID_PREFIX.key(), prefix);
        }

        /** A property of Kafka's producer, without the {@code properties.} of a table's option. */
        public Builder kafkaProperty(String key, String value) {
            return option("properties." + key, value);
        }

        /**
         * Any option of the table {@code penstock-kafka} or {@code penstock-upsert-kafka} but {@code connector}, for example {@code
         * format}, {@code json.timestamp-format.standard}, {@code key.fields}, {@code penstock.fallback}. A later value replaces an earlier one.
         */
        public Builder option(String key, String value) {
            options.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
            return this;
        }

        /**
         * Where options that begin with {@code penstock.} and are not set here are looked for; {@link #writeTo} takes the environment's
         * otherwise, {@link #build} nothing.
         */
        public Builder configuration(ReadableConfig flink) {
            configuration = Objects.requireNonNull(flink, "flink");
            return this;
        }

        /**
         * The sink alone, for {@code DataStream.sinkTo}. Its operator has the name that the program gives it; what would be told by the
         * name, the log tells.
         *
         * @throws ValidationException naming the option that is missing, unknown or wrong, and where {@code penstock.fallback} is {@code
         *     fail} with the reason why the sink cannot be native
         */
        public Sink<RowData> build() {
            if (provider(Optional.ofNullable(configuration).orElseGet(Configuration::new)) instanceof NamedSinkProvider made) {
                return made.sink();
            }
            throw new ValidationException(
                    "A sink with 'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' is more than one operator: use"
                            + " writeTo instead of build, or leave both options away.");
        }

        /**
         * Puts the sink behind {@code rows}. Its operator's name says whether it is native or why not, as for a table; parallelism is that of
         * {@code rows} unless {@code sink.parallelism} is set. Give it a uid before you take savepoints.
         *
         * @throws ValidationException as {@link #build}
         */
        public DataStreamSink<?> writeTo(DataStream<RowData> rows) {
            ReadableConfig flink =
                    Optional.ofNullable(configuration).orElseGet(() -> rows.getExecutionEnvironment().getConfiguration());
            return provider(flink).consumeDataStream(uid -> Optional.empty(), rows);
        }

        private DataStreamSinkProvider provider(ReadableConfig flink) {
            DynamicTableSinkFactory factory =
                    primaryKey.isEmpty() ? new PenstockKafkaTableFactory() : new PenstockUpsertKafkaTableFactory();
            DynamicTableSink sink =
                    FactoryUtil.createDynamicTableSink(
                            factory,
                            ObjectIdentifier.of("datastream", "sinks", name),
                            table(factory.factoryIdentifier()),
                            Map.of(),
                            flink,
                            Thread.currentThread().getContextClassLoader(),
                            true);
            return (DataStreamSinkProvider)
                    sink.getSinkRuntimeProvider(new SinkRuntimeProviderContext(false));
        }

        // The constructor that is not deprecated takes indexes, which Flink 2.0 and 2.1 do not have.
        @SuppressWarnings("deprecation")
        private ResolvedCatalogTable table(String connector) {
            if (rowType == null) {
                throw new ValidationException("PenstockSink has no columns: call rowType with the type of the rows.");
            }
            primaryKey.stream()
                    .filter(column -> rowType.getFieldIndex(column) < 0)
                    .findFirst()
                    .ifPresent(
                            column -> {
                                throw new ValidationException(
                                        String.format(
                                                "The primary key column '%s' is not in the row type %s.",
                                                column, rowType.asSummaryString()));
                            });
            UniqueConstraint key = primaryKey.isEmpty() ? null : UniqueConstraint.primaryKey("key", primaryKey);
            ResolvedSchema schema =
                    new ResolvedSchema(rowType.getFields().stream().map(this::column).toList(), List.of(), key);
            Map<String, String> all = new LinkedHashMap<>(options);
            all.put(FactoryUtil.CONNECTOR.key(), connector);
            return new ResolvedCatalogTable(
                    CatalogTable.newBuilder()
                            .schema(Schema.newBuilder().fromResolvedSchema(schema).build())
                            .options(all)
                            .build(),
                    schema);
        }

        /** Columns of a primary key are NOT NULL, as in SQL. */
        private Column column(RowType.RowField field) {
            LogicalType type = field.getType();
            return Column.physical(
                    field.getName(),
                    TypeConversions.fromLogicalToDataType(primaryKey.contains(field.getName()) ? type.copy(false) : type));
        }
    }
}
