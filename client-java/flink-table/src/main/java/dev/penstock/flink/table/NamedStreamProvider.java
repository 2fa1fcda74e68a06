package dev.penstock.flink.table;

import java.util.Optional;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.data.RowData;

/** A stock sink that puts itself into the job graph, as the buffered upsert sink does, under another name. */
final class NamedStreamProvider implements DataStreamSinkProvider {

    private final DataStreamSinkProvider stock;
    private final String name;

    NamedStreamProvider(DataStreamSinkProvider stock, String name) {
        this.stock = stock;
        this.name = name;
    }

    @Override
    public DataStreamSink<?> consumeDataStream(ProviderContext context, DataStream<RowData> rows) {
        return stock.consumeDataStream(context, rows).name(name);
    }

    @Override
    public Optional<Integer> getParallelism() {
        return stock.getParallelism();
    }
}
