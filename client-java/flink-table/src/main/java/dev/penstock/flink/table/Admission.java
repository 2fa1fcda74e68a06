package dev.penstock.flink.table;

import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.flink.columns.UnsupportedTypeException;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.WriterSettings;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.KafkaConfig;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides whether a table is written natively. The rule is: what is not known to give the same records is refused, with
 * a reason that a user can act on.
 */
final class Admission {

    /** Flink versions whose serializers the daemon's encoders have been compared with (formats.md 0). */
    private static final List<String> FLINK_VERSIONS = List.of("2.2.");

    private Admission() {}

    /** All that the decision depends on. */
    record Request(
            SinkArguments sink,
            List<String> metadataKeys,
            TableOptions options,
            boolean enabled,
            WriterSettings settings,
            String flinkVersion) {

        /** A request for the Flink that is running. */
        Request(
                SinkArguments sink,
                List<String> metadataKeys,
                TableOptions options,
                boolean enabled,
                WriterSettings settings) {
            this(sink, metadataKeys, options, enabled, settings, EnvironmentInformation.getVersion());
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
        if (FLINK_VERSIONS.stream().noneMatch(request.flinkVersion()::startsWith)) {
            throw new NotNative(
                    "Flink %s is not known to Penstock; known are %s", request.flinkVersion(), FLINK_VERSIONS);
        }
        SinkArguments sink = request.sink();
        refuseShape(sink, request.metadataKeys());
        RowType rowType = (RowType) sink.physicalDataType().getLogicalType();
        Format format = valueFormat(request, rowType, context);
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
                request.settings());
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

    private static Format valueFormat(Request request, RowType rowType, DynamicTableSink.Context context)
            throws NotNative {
        SerializationSchema<RowData> stock =
                request.sink()
                        .valueEncodingFormat()
                        .createRuntimeEncoder(context, request.sink().physicalDataType());
        return Formats.admit(request.options().valueFormat(), rowType, stock);
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
