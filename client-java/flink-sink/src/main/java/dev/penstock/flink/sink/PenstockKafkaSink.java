package dev.penstock.flink.sink;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.table.data.RowData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flink's Kafka sink with the record path in penstockd. Only the writer is different from stock's; and where the daemon
 * cannot do the job, the writer is stock's too.
 */
public final class PenstockKafkaSink extends StockKafkaSink {

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(PenstockKafkaSink.class);

    /** Longest wait of the task for what became of refused commits, all of one checkpoint together. */
    private static final Duration INQUIRY_TIMEOUT = Duration.ofSeconds(10);

    private final NativePlan plan;
    private final DaemonConnector connector;

    /**
     * Creates a sink that writes by {@code plan}.
     *
     * @param stock the sink that the same options make in Flink's connector
     * @param plan what the daemon needs to write the same records
     */
    public PenstockKafkaSink(KafkaSink<RowData> stock, NativePlan plan) {
        this(stock, plan, DaemonConnector::local);
    }

    PenstockKafkaSink(KafkaSink<RowData> stock, NativePlan plan, DaemonConnector connector) {
        super(stock);
        this.plan = Objects.requireNonNull(plan, "plan");
        this.connector = Objects.requireNonNull(connector, "connector");
    }

    /**
     * Makes the native writer, or with {@code penstock.fallback = stock} the stock one when the daemon cannot be
     * reached or refuses.
     *
     * @throws IOException when the brokers fail, when another attempt owns the transactions, or with {@code
     *     penstock.fallback = fail} whenever the writer cannot be native
     */
    @Override
    public StatefulSinkWriter<RowData, KafkaWriterState> restoreWriter(
            WriterInitContext context, Collection<KafkaWriterState> recovered) throws IOException {
        WriterMetrics metrics = new WriterMetrics(context.metricGroup());
        try {
            return new NativeWriterFactory(plan, context, metrics).create(connector, recovered);
        } catch (IOException e) {
            if (!NativeWriterFactory.mayFallBack(e)) {
                throw e;
            }
            if (plan.settings().fallback() == FallbackMode.FAIL) {
                throw new IOException(
                        "Penstock cannot write natively and 'penstock.fallback' is 'fail': " + e.getMessage(), e);
            }
            LOG.warn(
                    "Task {} runs on the stock Kafka writer: {}",
                    context.getTaskInfo().getTaskNameWithSubtasks(),
                    e.getMessage());
            LOG.debug("Why the native writer could not be opened", e);
            metrics.fellBack();
            return stock().restoreWriter(context, recovered);
        }
    }

    @Override
    public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) {
        if (plan.guarantee() != DeliveryGuarantee.EXACTLY_ONCE) {
            return super.createCommitter(context);
        }
        RefusedCommits refused =
                new RefusedCommits(
                        new AdminCoordinatorView(plan.producerProperties(), INQUIRY_TIMEOUT),
                        plan.topicsInWords(),
                        context.getRestoredCheckpointId().orElse(0),
                        context.metricGroup());
        return new RebuildingCommitter(() -> super.createCommitter(context), refused);
    }
}
