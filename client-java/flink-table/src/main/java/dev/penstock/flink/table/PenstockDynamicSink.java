package dev.penstock.flink.table;

import dev.penstock.flink.sink.FallbackMode;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.PenstockKafkaSink;
import dev.penstock.flink.sink.WriterSettings;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ParallelismProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stock table sink, with the native sink in the place of its runtime where that gives the same records. */
final class PenstockDynamicSink implements DynamicTableSink, SupportsWritingMetadata {

    private static final Logger LOG = LoggerFactory.getLogger(PenstockDynamicSink.class);

    private final KafkaDynamicSink stock;
    private final SinkArguments arguments;
    private final TableOptions options;
    private final boolean enabled;
    private final WriterSettings settings;
    private final String table;
    private List<String> metadataKeys = List.of();

    /**
     * Creates a sink around {@code stock}.
     *
     * @param table the table's name, for the log
     */
    PenstockDynamicSink(
            KafkaDynamicSink stock,
            SinkArguments arguments,
            TableOptions options,
            boolean enabled,
            WriterSettings settings,
            String table) {
        this.stock = Objects.requireNonNull(stock, "stock");
        this.arguments = Objects.requireNonNull(arguments, "arguments");
        this.options = options;
        this.enabled = enabled;
        this.settings = settings;
        this.table = table;
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
        metadataKeys = List.copyOf(keys);
    }

    /**
     * The native sink, or the stock one with a reason.
     *
     * @throws ValidationException when the table cannot be native and {@code penstock.fallback} is {@code fail}
     */
    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
        SinkRuntimeProvider runtime = stock.getSinkRuntimeProvider(context);
        Optional<Integer> parallelism =
                runtime instanceof ParallelismProvider provider ? provider.getParallelism() : Optional.empty();
        Sink<RowData> sink = ((SinkV2Provider) runtime).createSink();
        try {
            NativePlan plan = plan(context);
            LOG.info("Table {} is written natively.", table);
            return NamedSinkProvider.nativeSink(new PenstockKafkaSink((KafkaSink<RowData>) sink, plan), parallelism);
        } catch (NotNative e) {
            if (settings.fallback() == FallbackMode.FAIL) {
                throw new ValidationException(
                        String.format(
                                "Table %s cannot be written natively and 'penstock.fallback' is 'fail': %s.",
                                table, e.getMessage()));
            }
            LOG.warn("Table {} is written by the stock Kafka sink: {}.", table, e.getMessage());
            return NamedSinkProvider.fallback(sink, parallelism, e.getMessage());
        }
    }

    /** The plan of a native writer, or the reason why there is none. */
    NativePlan plan(Context context) throws NotNative {
        return Admission.plan(new Admission.Request(arguments, metadataKeys, options, enabled, settings), context);
    }

    @Override
    public DynamicTableSink copy() {
        PenstockDynamicSink copy =
                new PenstockDynamicSink((KafkaDynamicSink) stock.copy(), arguments, options, enabled, settings, table);
        copy.metadataKeys = metadataKeys;
        return copy;
    }

    @Override
    public String asSummaryString() {
        return "Penstock " + stock.asSummaryString();
    }
}
