package dev.penstock.flink.table;

import dev.penstock.flink.sink.WriterSettings;
import java.util.Optional;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * What Penstock itself reads of a table.
 *
 * @param connector the table's connector, first part of the operator's name
 * @param name the table's name, for messages
 * @param options all options as text
 * @param disabled where {@code penstock.enabled} is false, for messages; empty where it is true
 * @param settings how the writers behave
 */
record PenstockTable(String connector, String name, TableOptions options, Optional<String> disabled, WriterSettings settings) {

    /**
     * Reads and checks the table's options of Penstock.
     *
     * @throws org.apache.flink.table.api.ValidationException naming an option whose value cannot be
     */
    static PenstockTable of(DynamicTableFactory connector, DynamicTableFactory.Context context) {
        ReadableConfig own = FactoryUtil.createTableFactoryHelper(connector, context).getOptions();
        ReadableConfig options = new LayeredOptions(own, context.getConfiguration());
        return new PenstockTable(
                connector.factoryIdentifier(),
                context.getObjectIdentifier().asSummaryString(),
                TableOptions.of(context),
                disabled(own, context.getConfiguration()),
                PenstockOptions.settings(options));
    }

    /** Off in one place is off: neither does a table switch on what an operator has switched off, nor the other way round. */
    private static Optional<String> disabled(ReadableConfig table, ReadableConfig session) {
        if (!table.get(PenstockOptions.ENABLED)) {
            return Optional.of("an option of the table");
        }
        return session.get(PenstockOptions.ENABLED) ? Optional.empty() : Optional.of("the configuration of Flink");
    }
}
