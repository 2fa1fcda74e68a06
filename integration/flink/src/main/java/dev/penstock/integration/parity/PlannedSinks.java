package dev.penstock.integration.parity;

import dev.penstock.flink.sink.NativePlan;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.RecordShape;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.UniqueConstraint;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.DynamicTableSink.SinkRuntimeProvider;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.TypeConversions;

/** What the factories of both connectors make of one table, taken out of their sinks by reflection. */
final class PlannedSinks {
    private PlannedSinks() {}

    /** The serializer that the stock connector's sink would run, not opened. */
    @SuppressWarnings("unchecked")
    static KafkaRecordSerializationSchema<RowData> stockSerializer(RandomTable table) {
        SinkV2Provider runtime = (SinkV2Provider) runtime(table, table.upsert() ? "upsert-kafka" : "kafka");
        return (KafkaRecordSerializationSchema<RowData>) field(runtime.createSink(), "recordSerializer");
    }

    /**
     * What Penstock would ask the daemon for.
     *
     * @throws org.apache.flink.table.api.ValidationException with the reason when the table is not native
     */
    static OpenWriter penstockPlan(RandomTable table) throws Exception {
        SinkRuntimeProvider runtime =
                runtime(table, table.upsert() ? "penstock-upsert-kafka" : "penstock-kafka");
        NativePlan plan = (NativePlan) field(field(runtime, "sink"), "plan");
        return OpenWriter.parseFrom(plan.openWriter());
    }

    /** The shape of records that are nothing but their values. */
    static RecordShape wholeRows(RowType type) {
        RecordShape.Builder shape = RecordShape.newBuilder();
        for (int i = 0; i < type.getFieldCount(); i++) {
            shape.addValueColumns(i);
        }
        return shape.build();
    }

    private static SinkRuntimeProvider runtime(RandomTable table, String connector) {
        Map<String, String> options = new HashMap<>(table.options());
        options.put("connector", connector);
        if (connector.startsWith("penstock")) {
            options.put("penstock.fallback", "fail");
        }
        ResolvedSchema schema = schema(table);
        CatalogTable catalogTable = CatalogTable.newBuilder()
                .schema(Schema.newBuilder().fromResolvedSchema(schema).build())
                .options(options)
                .build();
        DynamicTableSink sink = FactoryUtil.createDynamicTableSink(
                null,
                ObjectIdentifier.of("c", "d", "t"),
                new ResolvedCatalogTable(catalogTable, schema),
                Map.of(),
                new Configuration(),
                PlannedSinks.class.getClassLoader(),
                false);
        if (!table.metadata().isEmpty()) {
            ((SupportsWritingMetadata) sink)
                    .applyWritableMetadata(table.metadata(), TypeConversions.fromLogicalToDataType(table.physical()));
        }
        return sink.getSinkRuntimeProvider(new SinkRuntimeProviderContext(false));
    }

    private static ResolvedSchema schema(RandomTable table) {
        List<Column> columns = new ArrayList<>();
        for (RowType.RowField field : table.physical().getFields()) {
            columns.add(Column.physical(field.getName(), TypeConversions.fromLogicalToDataType(field.getType())));
        }
        for (String key : table.metadata()) {
            columns.add(Column.metadata("metadata " + key, RandomTable.METADATA.get(key), key, false));
        }
        UniqueConstraint primaryKey = table.upsert() ? UniqueConstraint.primaryKey("pk", table.key()) : null;
        return new ResolvedSchema(columns, List.of(), primaryKey);
    }

    private static Object field(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(of);
            } catch (NoSuchFieldException e) {
                // Perhaps its superclass has it.
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException(of.getClass() + " has no field " + name);
    }
}
