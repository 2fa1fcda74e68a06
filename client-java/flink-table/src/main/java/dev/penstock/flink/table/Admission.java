package dev.penstock.flink.table;

import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.flink.columns.UnsupportedTypeException;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.RunningVersions;
import dev.penstock.flink.sink.WriterSettings;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.KafkaConfig;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides whether a table is written natively. The rule is: what is not known to give the same records is refused, with
 * a reason that a user can act on.
 */
final class Admission {

    private Admission() {}

    /** All that the decision depends on. */
    record Request(
            SinkArguments sink,
            List<String> metadataKeys,
            TableOptions options,
            boolean enabled,
            WriterSettings settings,
            RunningVersions versions) {

        /** A request for the versions that are running. */
        Request(
                SinkArguments sink,
                List<String> metadataKeys,
                TableOptions options,
                boolean enabled,
                WriterSettings settings) {
            this(sink, metadataKeys, options, enabled, settings, RunningVersions.current());
        }
    }

    /**
     * The plan of a native writer.
     *
     * @param context of the sink; used to make the stock serializer that the plan is compared with
     * @throws NotNative with the reason why there is none
     */
    static NativePlan plan(Request request, DynamicTableSink.Context context) throws NotNative {
        if (!request.enabled()) {
            throw new NotNative("'penstock.enabled' is false");
        }
        Optional<String> unknown = request.versions().unknown();
        if (unknown.isPresent()) {
            throw new NotNative(unknown.get());
        }
        SinkArguments sink = request.sink();
        refuseShape(sink, request.metadataKeys());
        RowType rowType = (RowType) sink.physicalDataType().getLogicalType();
        SerializationSchema<RowData> stock =
                sink.valueEncodingFormat().createRuntimeEncoder(context, sink.physicalDataType());
        Format format = ValueFormats.admit(request.options(), rowType, stock);
        Properties properties = ProducerProperties.ofSink(sink.properties());
        KafkaConfig kafka =
                ProducerProperties.translate(
                        properties, sink.deliveryGuarantee(), request.settings().warmPool());
        OpenWriter open =
                OpenWriter.newBuilder()
                        .setSchema(schema(rowType))
                        .setValueFormat(format)
                        .setTopic(sink.topics().get(0))
                        .setGuarantee(guarantee(sink.deliveryGuarantee()))
                        .setKafka(kafka)
                        .build();
        return new NativePlan(
                open.toByteArray(),
                rowType,
                sink.deliveryGuarantee(),
                sink.transactionalIdPrefix(),
                properties,
                request.settings(),
                SchemaRegistry.schema(format, request.options().valueFormatOptions(), stock, row -> row));
    }

    /** Everything about records but their values: where they go and what else is in them. */
    private static void refuseShape(SinkArguments sink, List<String> metadataKeys) throws NotNative {
        if (sink.keyEncodingFormat() != null) {
            throw new NotNative("'key.format' is set; record keys are not native yet");
        }
        if (!metadataKeys.isEmpty()) {
            throw new NotNative("metadata columns %s are written; they are not native yet", metadataKeys);
        }
        if (sink.topics() == null) {
            throw new NotNative("'topic-pattern' is '%s'; only one topic is native yet", sink.topicPattern());
        }
        if (sink.topics().size() != 1) {
            throw new NotNative("'topic' names %s; only one topic is native yet", sink.topics());
        }
        if (sink.partitioner() != null) {
            throw new NotNative(
                    "'sink.partitioner' is %s; only 'default' is native yet",
                    sink.partitioner().getClass().getSimpleName());
        }
        if (sink.deliveryGuarantee() == DeliveryGuarantee.EXACTLY_ONCE
                && sink.transactionNamingStrategy() != TransactionNamingStrategy.INCREMENTING) {
            throw new NotNative(
                    "'sink.transaction-naming-strategy' is '%s'; only 'INCREMENTING' is native",
                    sink.transactionNamingStrategy());
        }
        int fields = sink.physicalDataType().getLogicalType().getChildren().size();
        if (!Arrays.equals(sink.valueProjection(), IntStream.range(0, fields).toArray())) {
            throw new NotNative("'value.fields-include' leaves columns out; only 'ALL' is native yet");
        }
    }

    private static Schema schema(RowType rowType) throws NotNative {
        try {
            return RowColumnWriter.toSchema(rowType);
        } catch (UnsupportedTypeException e) {
            throw new NotNative(e.getMessage());
        }
    }

    private static dev.penstock.proto.v1.DeliveryGuarantee guarantee(DeliveryGuarantee guarantee) {
        return switch (guarantee) {
            case EXACTLY_ONCE -> dev.penstock.proto.v1.DeliveryGuarantee.EXACTLY_ONCE;
            case AT_LEAST_ONCE -> dev.penstock.proto.v1.DeliveryGuarantee.AT_LEAST_ONCE;
            case NONE -> dev.penstock.proto.v1.DeliveryGuarantee.NONE;
        };
    }
}
