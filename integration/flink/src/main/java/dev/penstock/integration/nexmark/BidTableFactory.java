package dev.penstock.integration.nexmark;

import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/** Makes {@code 'connector' = 'penstock-bids'} a table with the columns {@link BidSource#COLUMNS}. */
public final class BidTableFactory implements DynamicTableSourceFactory {
    private static final ConfigOption<Long> ROWS = ConfigOptions.key("rows").longType().noDefaultValue()
            .withDescription("Number of bids.");
    private static final ConfigOption<Long> RATE = ConfigOptions.key("rate").longType().defaultValue(0L)
            .withDescription("Bids per second over all subtasks; 0 = no limit.");

    @Override
    public String factoryIdentifier() {
        return "penstock-bids";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(ROWS);
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
        return new BidTable(context.getPhysicalRowDataType(), options.get(ROWS), options.get(RATE));
    }

    private record BidTable(DataType type, long rows, long rate) implements ScanTableSource {

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            TypeInformation<RowData> rowType = context.createTypeInformation(type);
            return SourceProvider.of(BidSource.of(rows, rate, rowType));
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "bids";
        }
    }
}
