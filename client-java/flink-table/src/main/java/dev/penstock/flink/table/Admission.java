package dev.penstock.flink.table;

import dev.penstock.flink.columns.Nullability;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.flink.columns.UnsupportedTypeException;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.RunningVersions;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Schema;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides whether a table is written natively. The rule is: what is not known to give the same records is refused, with
 * a reason that a user can act on.
 */
final class Admission {

    private Admission() {}

    /** All that the decision depends on. */
    record Request(SinkArguments sink, List<MetadataColumn> metadata, PenstockTable table, RunningVersions versions) {

        /** A request for the versions that are running. */
        Request(SinkArguments sink, List<MetadataColumn> metadata, PenstockTable table) {
            this(sink, metadata, table, RunningVersions.current());
        }
    }

    /**
     * The plan of a native writer.
     *
     * @param context of the sink; used to make the stock serializers that the plan is compared with
     * @throws NotNative with the reason why there is none
     */
    static NativePlan plan(Request request, DynamicTableSink.Context context) throws NotNative {
        PenstockTable table = request.table();
        if (table.disabled().isPresent()) {
            throw new NotNative("'penstock.enabled' is false in %s", table.disabled().get());
        }
        Optional<String> unknown = request.versions().unknown();
        if (unknown.isPresent()) {
            throw new NotNative(unknown.get());
        }
        SinkArguments sink = request.sink();
        refuseWays(sink);
        ConsumedRow row =
                ConsumedRow.of((RowType) sink.physicalDataType().getLogicalType(), request.metadata());
        OpenWriter.Builder open = OpenWriter.newBuilder().setGuarantee(guarantee(sink.deliveryGuarantee()));
        RecordPlan records = RecordPlan.into(open, sink, table.options(), row, context);
        RowType columns = Nullability.columns(row.type(), open.build());
        open.setSchema(schema(columns));
        Properties properties = ProducerProperties.ofSink(sink.properties());
        open.setKafka(
                ProducerProperties.translate(
                        properties, sink.deliveryGuarantee(), table.settings().warmPool()));
        return new NativePlan(
                open.build().toByteArray(),
                columns,
                sink.deliveryGuarantee(),
                sink.transactionalIdPrefix(),
                properties,
                table.settings(),
                records.keySchema(),
                records.valueSchema(),
                table.name());
    }

    /** What the stock sink does around its records that the daemon does not. */
    private static void refuseWays(SinkArguments sink) throws NotNative {
        if (sink.buffered()) {
            throw new NotNative(
                    "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' are set; the order in which Flink's"
                            + " buffer writes its keys is not reproduced, leave both away");
        }
        if (sink.deliveryGuarantee() == DeliveryGuarantee.EXACTLY_ONCE
                && sink.transactionNamingStrategy() != TransactionNamingStrategy.INCREMENTING) {
            throw new NotNative(
                    "'sink.transaction-naming-strategy' is '%s'; only 'INCREMENTING' is native",
                    sink.transactionNamingStrategy());
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
