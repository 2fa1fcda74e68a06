package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;

/** Makes sinks of tables by Flink's own factory discovery. */
final class SinkTables {

    /** Options of the smallest table that is native. */
    static final Map<String, String> OPTIONS =
            Map.of(
                    "connector", "penstock-kafka",
                    "topic", "flights",
                    "properties.bootstrap.servers", "localhost:1",
                    "format", "json");

    static final List<Column> COLUMNS =
            List.of(Column.physical("id", DataTypes.BIGINT()), Column.physical("name", DataTypes.STRING()));

    private SinkTables() {}

    /** {@link #OPTIONS} with changes; an empty value removes. */
    static Map<String, String> options(Map<String, String> changes) {
        Map<String, String> options = new HashMap<>(OPTIONS);
        options.putAll(changes);
        options.values().removeIf(String::isEmpty);
        return options;
    }

    static PenstockDynamicSink sink(Map<String, String> options) {
        return sink(options, COLUMNS, Map.of());
    }

    /** A sink; {@code enrichment} are options that a compiled plan carries. */
    static PenstockDynamicSink sink(Map<String, String> options, List<Column> columns, Map<String, String> enrichment) {
        ResolvedSchema schema = ResolvedSchema.of(columns);
        CatalogTable table =
                CatalogTable.newBuilder()
                        .schema(Schema.newBuilder().fromResolvedSchema(schema).build())
                        .options(options)
                        .build();
        return (PenstockDynamicSink)
                FactoryUtil.createDynamicTableSink(
                        null,
                        ObjectIdentifier.of("c", "d", "t"),
                        new ResolvedCatalogTable(table, schema),
                        enrichment,
                        new Configuration(),
                        SinkTables.class.getClassLoader(),
                        false);
    }

    static DynamicTableSink.Context context() {
        return new SinkRuntimeProviderContext(false);
    }
}
