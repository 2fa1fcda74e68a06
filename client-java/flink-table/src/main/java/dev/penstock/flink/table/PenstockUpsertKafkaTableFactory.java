package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.streaming.connectors.kafka.table.UpsertKafkaDynamicTableFactory;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The connector {@code penstock-upsert-kafka}: takes the options of {@code upsert-kafka} and treats them as {@link
 * PenstockKafkaTableFactory} does those of {@code kafka}.
 */
public class PenstockUpsertKafkaTableFactory extends UpsertKafkaDynamicTableFactory {

    /** The value of the option {@code connector}. */
    public static final String IDENTIFIER = "penstock-upsert-kafka";

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return PenstockOptions.with(super.optionalOptions());
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        KafkaDynamicSink stock = (KafkaDynamicSink) super.createDynamicTableSink(context);
        ReadableConfig options = FactoryUtil.createTableFactoryHelper(this, context).getOptions();
        // The stock factory has checked that both are set or none.
        boolean buffered = options.get(KafkaConnectorOptions.SINK_BUFFER_FLUSH_MAX_ROWS) > 0;
        ArgumentsFactory factory = new ArgumentsFactory(this, true, buffered);
        factory.createDynamicTableSink(keyed(context));
        return new PenstockDynamicSink(stock, factory.arguments(), PenstockTable.of(this, context));
    }

    /**
     * The same table as the {@code kafka} factory understands it, which lets its arguments be seen: {@code key.fields}
     * in the place of the primary key, as the stock upsert factory does it for the projections.
     */
    private static Context keyed(Context context) {
        ResolvedCatalogTable table = context.getCatalogTable();
        List<String> key = table.getResolvedSchema().getPrimaryKey().orElseThrow().getColumns();
        String option = KafkaConnectorOptions.KEY_FIELDS.key();
        Map<String, String> options = new HashMap<>(table.getOptions());
        options.put(option, new Configuration().set(KafkaConnectorOptions.KEY_FIELDS, key).toMap().get(option));
        return new FactoryUtil.DefaultDynamicTableContext(
                context.getObjectIdentifier(),
                new ResolvedCatalogTable(
                        table.getOrigin().copy(options), ResolvedSchema.of(table.getResolvedSchema().getColumns())),
                context.getEnrichmentOptions(),
                context.getConfiguration(),
                context.getClassLoader(),
                context.isTemporary());
    }
}
