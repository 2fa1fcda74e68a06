package dev.penstock.flink.table;

import dev.penstock.flink.sink.FallbackMode;
import dev.penstock.flink.sink.NativePlan;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.types.DataType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stock table sink, with the native sink in the place of its runtime where that gives the same records. */
final class PenstockDynamicSink implements DynamicTableSink, SupportsWritingMetadata {

    private static final Logger LOG = LoggerFactory.getLogger(PenstockDynamicSink.class);

    private final KafkaDynamicSink stock;
    private final SinkArguments arguments;
    private final PenstockTable table;
    private List<MetadataColumn> metadata = List.of();

    /** Creates a sink around {@code stock}, which was made of {@code arguments}. */
    PenstockDynamicSink(KafkaDynamicSink stock, SinkArguments arguments, PenstockTable table) {
        this.stock = Objects.requireNonNull(stock, "stock");
        this.arguments = Objects.requireNonNull(arguments, "arguments");
        this.table = Objects.requireNonNull(table, "table");
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
        return stock.getChangelogMode(requested);
    }

    @Override
    public Map<String, DataType> listWritableMetadata() {
        return stock.listWritableMetadata();
    }

    @Override
    public void applyWritableMetadata(List<String> keys, DataType consumedDataType) {
        stock.applyWritableMetadata(keys, consumedDataType);
        Map<String, DataType> types = stock.listWritableMetadata();
        metadata = keys.stream().map(key -> new MetadataColumn(key, types.get(key).getLogicalType())).toList();
    }

    /**
     * The native sink, or the stock one with a reason.
     *
     * @throws ValidationException when the table cannot be native and {@code penstock.fallback} is {@code fail}
     */
    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
        SinkRuntimeProvider runtime = stock.getSinkRuntimeProvider(context);
        try {
            NativePlan plan = plan(context);
            LOG.info("Table {} is written natively.", table.name());
            return NamedSinkProvider.nativeSink(table.connector(), (SinkV2Provider) runtime, plan);
        } catch (NotNative e) {
            if (table.settings().fallback() == FallbackMode.FAIL) {
                throw new ValidationException(
                        String.format(
                                "Table %s cannot be written natively and 'penstock.fallback' is 'fail': %s.",
                                table.name(), e.getMessage()));
            }
            LOG.warn("Table {} is written by the stock Kafka sink: {}.", table.name(), e.getMessage());
            return NamedSinkProvider.fallback(table.connector(), runtime, e.getMessage());
        }
    }

    /** The plan of a native writer, or the reason why there is none. */
    NativePlan plan(Context context) throws NotNative {
        try {
            return Admission.plan(new Admission.Request(arguments, metadata, table), context);
        } catch (NoClassDefFoundError e) {
            throw new NotNative(
                    "the class %s is missing, so Penstock's jar is not the one for this Kafka connector; beside"
                            + " flink-sql-connector-kafka use penstock-flink-sql-connector-*-sql-kafka.jar, beside"
                            + " flink-connector-kafka the jar without -sql-kafka",
                    e.getMessage().replace('/', '.'));
        }
    }

    @Override
    public DynamicTableSink copy() {
        PenstockDynamicSink copy =
                new PenstockDynamicSink((KafkaDynamicSink) stock.copy(), arguments, table);
        copy.metadata = metadata;
        return copy;
    }

    @Override
    public String asSummaryString() {
        return "Penstock " + stock.asSummaryString();
    }
}
