package dev.penstock.flink.sink;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.table.data.RowData;

/** The stock sink of a table that cannot be native; its writers say so with the metric {@code penstock.fallback}. */
public final class FallbackKafkaSink extends StockKafkaSink {

    private static final long serialVersionUID = 1L;

    /** Creates a sink that writes as {@code stock} does. */
    public FallbackKafkaSink(KafkaSink<RowData> stock) {
        super(stock);
    }

    @Override
    public StatefulSinkWriter<RowData, KafkaWriterState> restoreWriter(
            WriterInitContext context, Collection<KafkaWriterState> recovered) throws IOException {
        new WriterMetrics(context.metricGroup()).fellBack();
        return stock().restoreWriter(context, recovered);
    }
}
