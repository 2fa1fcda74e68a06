package dev.penstock.flink.table;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.Column.MetadataColumn;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.factories.FactoryUtil;

/** Makes sinks of SQL statements, up to where the planner would ask them for their runtime. */
final class DdlTables {

    private static final ObjectIdentifier TABLE =
            ObjectIdentifier.of("default_catalog", "default_database", "t");

    private final TableEnvironmentInternal environment =
            (TableEnvironmentInternal) TableEnvironment.create(EnvironmentSettings.inStreamingMode());

    /**
     * The sink of a table, to which the planner has given the metadata columns that the table writes.
     *
     * @param definition what follows {@code CREATE TABLE t}
     */
    DynamicTableSink sink(String definition) {
        environment.executeSql("DROP TABLE IF EXISTS t");
        environment.executeSql("CREATE TABLE t " + definition);
        ResolvedCatalogTable table =
                environment.getCatalogManager().getTable(TABLE).orElseThrow().getResolvedTable();
        DynamicTableSink sink =
                FactoryUtil.createDynamicTableSink(
                        null,
                        TABLE,
                        table,
                        Map.of(),
                        new Configuration(),
                        DdlTables.class.getClassLoader(),
                        false);
        writeMetadata((SupportsWritingMetadata) sink, table);
        return sink;
    }

    /** As DynamicSinkUtils does it: the keys in the order in which the sink lists them. */
    private static void writeMetadata(SupportsWritingMetadata sink, ResolvedCatalogTable table) {
        Set<String> wanted = new HashSet<>();
        for (Column column : table.getResolvedSchema().getColumns()) {
            if (column instanceof MetadataColumn metadata && !metadata.isVirtual()) {
                wanted.add(metadata.getMetadataKey().orElse(metadata.getName()));
            }
        }
        List<String> keys = sink.listWritableMetadata().keySet().stream().filter(wanted::contains).toList();
        if (!keys.isEmpty()) {
            sink.applyWritableMetadata(keys, table.getResolvedSchema().toPhysicalRowDataType());
        }
    }
}
