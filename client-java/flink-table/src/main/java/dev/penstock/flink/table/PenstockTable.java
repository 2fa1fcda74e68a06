package dev.penstock.flink.table;

import dev.penstock.flink.sink.WriterSettings;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * What Penstock itself reads of a table.
 *
 * @param connector the table's connector, first part of the operator's name
 * @param name the table's name, for messages
 * @param options all options as text
 * @param enabled {@code penstock.enabled}
 * @param settings how the writers behave
 */
record PenstockTable(String connector, String name, TableOptions options, boolean enabled, WriterSettings settings) {

    /**
     * Reads and checks the table's options of Penstock.
     *
     * @throws org.apache.flink.table.api.ValidationException naming an option whose value cannot be
     */
    static PenstockTable of(DynamicTableFactory connector, DynamicTableFactory.Context context) {
        ReadableConfig options = FactoryUtil.createTableFactoryHelper(connector, context).getOptions();
        return new PenstockTable(
                connector.factoryIdentifier(),
                context.getObjectIdentifier().asSummaryString(),
                TableOptions.of(context),
                options.get(PenstockOptions.ENABLED),
                PenstockOptions.settings(options));
    }
}
