package dev.penstock.integration.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonRowDataDeserializationSchema;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * Makes {@code 'connector' = 'penstock-replay'} a table whose first column is a BIGINT counter and whose other columns
 * are the fields of the records of a file of JSON lines, repeated as often as needed.
 */
public final class ReplayTableFactory implements DynamicTableSourceFactory {
    private static final ConfigOption<String> PATH = ConfigOptions.key("path").stringType().noDefaultValue()
            .withDescription("File with one JSON object a line, readable by every TaskManager.");
    private static final ConfigOption<Long> ROWS = ConfigOptions.key("rows").longType().noDefaultValue()
            .withDescription("Number of rows; the file starts again from its beginning as often as needed.");
    private static final ConfigOption<Long> RATE = ConfigOptions.key("rate").longType().defaultValue(0L)
            .withDescription("Rows per second over all subtasks; 0 = no limit.");

    @Override
    public String factoryIdentifier() {
        return "penstock-replay";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(PATH, ROWS);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(RATE);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig options = helper.getOptions();
        if (!Files.isReadable(Path.of(options.get(PATH)))) {
            throw new ValidationException("option path: cannot read " + options.get(PATH)
                    + "; name a file of JSON lines by its absolute path");
        }
        DataType type = context.getPhysicalRowDataType();
        RowType row = (RowType) type.getLogicalType();
        if (row.getFieldCount() < 2 || !row.getTypeAt(0).is(LogicalTypeRoot.BIGINT)) {
            throw new ValidationException("the first column of a penstock-replay table is a BIGINT counter and others "
                    + "follow, found " + row);
        }
        return new ReplayTable(row, options.get(PATH), options.get(ROWS), options.get(RATE));
    }

    private record ReplayTable(RowType row, String path, long rows, long rate) implements ScanTableSource {

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            RowType fields = new RowType(row.getFields().subList(1, row.getFieldCount()));
            DeserializationSchema<RowData> format = new JsonRowDataDeserializationSchema(
                    fields, InternalTypeInfo.of(fields), false, false, TimestampFormat.SQL);
            return SourceProvider.of(new DataGeneratorSource<>(
                    new ReplayGenerator(path, fields.getFieldCount(), format), rows,
                    rate == 0 ? RateLimiterStrategy.noOp() : RateLimiterStrategy.perSecond(rate),
                    InternalTypeInfo.of(row)));
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "replay of " + path;
        }
    }
}
