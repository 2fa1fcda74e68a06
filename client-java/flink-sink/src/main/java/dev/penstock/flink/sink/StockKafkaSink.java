package dev.penstock.flink.sink;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.TwoPhaseCommittingStatefulSink;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.lineage.LineageVertex;
import org.apache.flink.streaming.api.lineage.LineageVertexProvider;
import org.apache.flink.table.data.RowData;

/**
 * A sink around Flink's {@link KafkaSink}, whose committer, serializers of state and committables, co-location and
 * lineage it has, so that a savepoint of either can be restored by the other. What differs is how a writer comes about.
 */
abstract class StockKafkaSink
        implements Sink<RowData>,
                SupportsCommitter<KafkaCommittable>,
                SupportsWriterState<RowData, KafkaWriterState>,
                SupportsPostCommitTopology<KafkaCommittable>,
                LineageVertexProvider {

    private static final long serialVersionUID = 1L;

    private final KafkaSink<RowData> stock;

    StockKafkaSink(KafkaSink<RowData> stock) {
        this.stock = Objects.requireNonNull(stock, "stock");
    }

    /** The stock sink. Types of KafkaSink's own methods are not accessible from here; those of its interface are. */
    final TwoPhaseCommittingStatefulSink<RowData, KafkaWriterState, KafkaCommittable> stock() {
        return stock;
    }

    @Override
    public final StatefulSinkWriter<RowData, KafkaWriterState> createWriter(WriterInitContext context)
            throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) {
        return stock.createCommitter(context);
    }

    @Override
    public final SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
        return stock.getCommittableSerializer();
    }

    @Override
    public final SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
        return stock.getWriterStateSerializer();
    }

    @Override
    public final void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
        stock.addPostCommitTopology(committables);
    }

    @Override
    public final LineageVertex getLineageVertex() {
        return stock.getLineageVertex();
    }
}
