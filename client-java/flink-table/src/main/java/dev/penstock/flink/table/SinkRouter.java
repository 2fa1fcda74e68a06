package dev.penstock.flink.table;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * Gives the sinks of Kafka tables to Penstock and those of every other connector to the factory that Flink itself would find.
 * A module or a catalog that has a factory is asked for every table, so this one must know them all.
 */
final class SinkRouter implements DynamicTableSinkFactory {

    private static final String KAFKA = "kafka";
    private static final String UPSERT_KAFKA = "upsert-kafka";

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        String connector = context.getCatalogTable().getOptions().get(FactoryUtil.CONNECTOR.key());
        if (connector == null) {
            // Neither does the planner find a factory then; its message lists the options of the table.
            return FactoryUtil.createDynamicTableSink(
                    null,
                    context.getObjectIdentifier(),
                    context.getCatalogTable(),
                    context.getEnrichmentOptions(),
                    context.getConfiguration(),
                    context.getClassLoader(),
                    context.isTemporary());
        }
        return factory(connector, context.getClassLoader()).createDynamicTableSink(context);
    }

    /** By name: Kafka's classes are needed only where a Kafka table is written. */
    private static DynamicTableSinkFactory factory(String connector, ClassLoader loader) {
        return switch (connector) {
            case KAFKA -> new PenstockKafkaTableFactory();
            case UPSERT_KAFKA -> new PenstockUpsertKafkaTableFactory();
            default -> discovered(connector, loader);
        };
    }

    /** As FactoryUtil does it, so that its messages stay the same. */
    private static DynamicTableSinkFactory discovered(String connector, ClassLoader loader) {
        DynamicTableFactory factory = FactoryUtil.discoverFactory(loader, DynamicTableFactory.class, connector);
        if (factory instanceof DynamicTableSinkFactory sinks) {
            return sinks;
        }
        throw new ValidationException(
                String.format("Connector '%s' can only be used as a source. It cannot be used as a sink.", connector));
    }

    @Override
    public String factoryIdentifier() {
        return PenstockModuleFactory.IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }
}
