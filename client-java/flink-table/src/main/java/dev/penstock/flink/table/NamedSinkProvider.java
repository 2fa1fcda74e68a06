package dev.penstock.flink.table;

import dev.penstock.flink.sink.FallbackKafkaSink;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.PenstockKafkaSink;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink.SinkRuntimeProvider;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a sink into the job graph as the planner would put a SinkV2Provider's, except for its name: that says who writes
 * and why. Neither uids nor generated hashes contain the name, so savepoints of the stock connector fit (flink.md 4,
 * 5).
 */
final class NamedSinkProvider implements DataStreamSinkProvider {

    private static final Logger LOG = LoggerFactory.getLogger(NamedSinkProvider.class);

    /** The last part of the uid that the planner gives to a SinkV2Provider's sink in a compiled plan. */
    private static final String UID = "sink";

    private final Sink<RowData> sink;
    private final Optional<Integer> parallelism;
    private final String name;
    /** Of the transactions; null where there are none or stock takes care of them. */
    private final Properties producer;

    private NamedSinkProvider(
            Sink<RowData> sink, Optional<Integer> parallelism, String name, Properties producer) {
        this.sink = sink;
        this.parallelism = parallelism;
        this.name = name;
        this.producer = producer;
    }

    /**
     * The sink that writes by {@code plan}, around the stock one.
     *
     * @param connector the table's connector
     * @param stock what the stock connector would run
     */
    static DataStreamSinkProvider nativeSink(String connector, SinkV2Provider stock, NativePlan plan) {
        return new NamedSinkProvider(
                new PenstockKafkaSink(kafkaSink(stock), plan),
                stock.getParallelism(),
                connector + " [native]",
                plan.guarantee() == DeliveryGuarantee.EXACTLY_ONCE ? plan.producerProperties() : null);
    }

    /** The stock sink, with the reason in its name. */
    static DataStreamSinkProvider fallback(String connector, SinkRuntimeProvider stock, String reason) {
        String name = connector + " [fallback: " + reason + "]";
        if (stock instanceof SinkV2Provider provider) {
            return new NamedSinkProvider(
                    new FallbackKafkaSink(kafkaSink(provider)), provider.getParallelism(), name, null);
        }
        return new NamedStreamProvider((DataStreamSinkProvider) stock, name);
    }

    /** The sink, for programs that attach it themselves. */
    Sink<RowData> sink() {
        return sink;
    }

    private static KafkaSink<RowData> kafkaSink(SinkV2Provider stock) {
        return (KafkaSink<RowData>) stock.createSink();
    }

    @Override
    public DataStreamSink<?> consumeDataStream(ProviderContext context, DataStream<RowData> rows) {
        if (producer != null) {
            TransactionTimeout.warning(producer, rows.getExecutionEnvironment().getCheckpointConfig())
                    .ifPresent(LOG::warn);
        }
        DataStreamSink<RowData> end = rows.sinkTo(sink);
        context.generateUid(UID).ifPresent(end::uid);
        end.name(name);
        // As the planner does it for a SinkV2Provider: the sink has the input's parallelism unless the table sets one.
        end.getTransformation()
                .setParallelism(
                        parallelism.orElse(rows.getTransformation().getParallelism()),
                        parallelism.isPresent() || rows.getTransformation().isParallelismConfigured());
        return end;
    }

    @Override
    public Optional<Integer> getParallelism() {
        return parallelism;
    }
}
