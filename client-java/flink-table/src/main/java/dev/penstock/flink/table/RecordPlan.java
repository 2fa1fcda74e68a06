package dev.penstock.flink.table;

import dev.penstock.flink.columns.NullKeys;
import dev.penstock.flink.sink.RegistrySchema;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Partitioner;
import dev.penstock.proto.v1.RecordShape;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.connectors.kafka.partitioner.FlinkFixedPartitioner;
import org.apache.flink.table.connector.Projection;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.FieldsDataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * Says which part of a row becomes which part of its record, by the rules of KafkaDynamicSink and
 * DynamicKafkaRecordSerializationSchema (formats.md 9).
 */
final class RecordPlan {

    private static final String TOPIC = "topic";
    private static final String HEADERS = "headers";
    private static final String TIMESTAMP = "timestamp";
    private static final List<String> METADATA = List.of(TOPIC, HEADERS, TIMESTAMP);

    /** Connector versions that leave out headers without a value; later ones write them (FLINK-39792). */
    private static final String KNOWN_HEADERS = "5.0.";

    private final SinkArguments sink;
    private final TableOptions options;
    private final ConsumedRow row;
    private final DynamicTableSink.Context context;
    private final OpenWriter.Builder open;
    private final RecordShape.Builder shape = RecordShape.newBuilder();
    private RegistrySchema keySchema;
    private RegistrySchema valueSchema;

    private RecordPlan(
            SinkArguments sink,
            TableOptions options,
            ConsumedRow row,
            DynamicTableSink.Context context,
            OpenWriter.Builder open) {
        this.sink = sink;
        this.options = options;
        this.row = row;
        this.context = context;
        this.open = open;
    }

    /**
     * Sets formats, topic and shape.
     *
     * @param context of the sink; used to make the stock serializers that the formats are compared with
     * @throws NotNative when a part of the records is not native
     */
    static RecordPlan into(
            OpenWriter.Builder open,
            SinkArguments sink,
            TableOptions options,
            ConsumedRow row,
            DynamicTableSink.Context context)
            throws NotNative {
        RecordPlan plan = new RecordPlan(sink, options, row, context, open);
        plan.topics();
        plan.metadata();
        plan.partitioner();
        plan.value();
        plan.key();
        plan.requireOneReading();
        if (!plan.isWholeRow()) {
            open.setShape(plan.shape);
        }
        return plan;
    }

    /** The schema of keys whose id the writers have to learn, or null. */
    RegistrySchema keySchema() {
        return keySchema;
    }

    /** The same of values. */
    RegistrySchema valueSchema() {
        return valueSchema;
    }

    private void topics() throws NotNative {
        if (sink.topics() == null) {
            throw new NotNative("'topic-pattern' is '%s'; write the topics into 'topic'", sink.topicPattern());
        }
        // As the serializer does it: a list that names one topic twice is one topic.
        List<String> topics = sink.topics().stream().distinct().toList();
        if (topics.size() == 1) {
            open.setTopic(topics.get(0));
            return;
        }
        int column =
                row.metadata(TOPIC)
                        .orElseThrow(
                                () -> new NotNative(
                                        "'topic' names %s and no column is the metadata '%s', so that no row has a"
                                                + " topic; add the column or name one topic",
                                        topics, TOPIC));
        shape.setTopicColumn(column).addAllTopics(topics);
    }

    private void metadata() throws NotNative {
        requireKnownMetadata(row);
        row.metadata(TIMESTAMP).ifPresent(shape::setTimestampColumn);
        if (row.metadata(HEADERS).isPresent()) {
            requireKnownHeaders(connector());
            shape.setHeadersColumn(row.metadata(HEADERS).getAsInt());
        }
    }

    /** The version of flink-connector-kafka as its jar tells it, for example "5.0.0-2.2"; "null" when it tells none. */
    static String connector() {
        return Objects.toString(KafkaSink.class.getPackage().getImplementationVersion());
    }

    /** Refuses metadata that a later connector may write. */
    static void requireKnownMetadata(ConsumedRow row) throws NotNative {
        for (String key : row.metadataKeys()) {
            if (!METADATA.contains(key)) {
                throw new NotNative("the metadata '%s' is written; native are %s", key, METADATA);
            }
        }
    }

    /** Refuses connectors whose headers nobody has compared. */
    static void requireKnownHeaders(String connector) throws NotNative {
        if (!connector.startsWith(KNOWN_HEADERS)) {
            throw new NotNative(
                    "the metadata 'headers' is written, and how flink-connector-kafka %s writes headers is not known to"
                            + " Penstock; known is %sx",
                    connector, KNOWN_HEADERS);
        }
    }

    private void partitioner() throws NotNative {
        if (sink.partitioner() == null) {
            return;
        }
        Class<?> partitioner = sink.partitioner().getClass();
        if (partitioner != FlinkFixedPartitioner.class) {
            throw new NotNative(
                    "'sink.partitioner' is the class %s; native are 'default', 'round-robin' and 'fixed'",
                    partitioner.getName());
        }
        shape.setPartitioner(Partitioner.PARTITIONER_FIXED);
    }

    private void value() throws NotNative {
        shape.setUpsert(sink.upsert());
        for (int column : sink.valueProjection()) {
            shape.addValueColumns(column);
        }
        DataType type = Projection.of(sink.valueProjection()).project(sink.physicalDataType());
        SerializationSchema<RowData> stock = sink.valueEncodingFormat().createRuntimeEncoder(context, type);
        FormatChoice choice = options.valueFormat();
        Format format = Formats.admit(choice, (RowType) type.getLogicalType(), stock);
        open.setValueFormat(format);
        // Without keys and metadata the stock serializer gets the row as it is.
        boolean whole = sink.keyEncodingFormat() == null && row.metadataKeys().isEmpty();
        valueSchema =
                SchemaRegistry.schema(
                        format,
                        choice.options(),
                        stock,
                        whole ? all -> all : RecordPart.value(row.type(), sink.valueProjection(), sink.upsert()));
    }

    /**
     * The row with the prefix of {@code key.fields-prefix} taken from its names, as stock does it: with a class of its
     * own from connector 5 on, with one of Flink before.
     */
    private static DataType withoutPrefix(DataType type, String prefix) {
        RowType row = (RowType) type.getLogicalType();
        List<RowType.RowField> fields =
                row.getFields().stream()
                        .map(
                                field ->
                                        new RowType.RowField(
                                                field.getName().startsWith(prefix)
                                                        ? field.getName().substring(prefix.length())
                                                        : field.getName(),
                                                field.getType(),
                                                field.getDescription().orElse(null)))
                        .toList();
        return new FieldsDataType(
                new RowType(row.isNullable(), fields), type.getConversionClass(), type.getChildren());
    }

    private void key() throws NotNative {
        if (sink.keyEncodingFormat() == null) {
            return;
        }
        DataType type = Projection.of(sink.keyProjection()).project(sink.physicalDataType());
        if (sink.keyPrefix() != null) {
            type = withoutPrefix(type, sink.keyPrefix());
        }
        for (int column : sink.keyProjection()) {
            shape.addKeyColumns(column);
        }
        shape.addAllKeyNames(((RowType) type.getLogicalType()).getFieldNames());
        SerializationSchema<RowData> stock = sink.keyEncodingFormat().createRuntimeEncoder(context, type);
        FormatChoice choice = options.keyFormat();
        Format format;
        try {
            format = Formats.admit(choice, (RowType) type.getLogicalType(), stock);
        } catch (NotNative e) {
            throw new NotNative("record keys: " + e.getMessage());
        }
        shape.setKeyFormat(format);
        keySchema =
                SchemaRegistry.schema(
                        format, choice.options(), stock, RecordPart.key(row.type(), sink.keyProjection()));
    }

    /** Refuses a column whose maps would have to reach the daemon in two ways, see {@link NullKeys}. */
    private void requireOneReading() throws NotNative {
        if (!shape.hasKeyFormat() || shape.getKeyFormat().hasAvro() == open.getValueFormat().hasAvro()) {
            return;
        }
        for (int column : shape.getKeyColumnsList()) {
            if (shape.getValueColumnsList().contains(column) && hasMap(row.type().getTypeAt(column))) {
                throw new NotNative(
                        "column '%s' has a MAP and is in the key and in the value, of which only one is written in avro;"
                                + " set 'value.fields-include' = 'EXCEPT_KEY'",
                        row.type().getFieldNames().get(column));
            }
        }
    }

    private static boolean hasMap(LogicalType type) {
        return type.is(LogicalTypeRoot.MAP)
                || type.is(LogicalTypeRoot.MULTISET)
                || type.getChildren().stream().anyMatch(RecordPlan::hasMap);
    }

    /** Whether nothing but the row is in the record, which needs no shape. */
    private boolean isWholeRow() {
        int[] all = IntStream.range(0, row.type().getFieldCount()).toArray();
        RecordShape plain = RecordShape.newBuilder().addAllValueColumns(Arrays.stream(all).boxed().toList()).build();
        return shape.build().equals(plain);
    }
}
