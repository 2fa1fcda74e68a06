package dev.penstock.integration.committer;

import dev.penstock.flink.sink.FallbackMode;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.PenstockKafkaSink;
import dev.penstock.flink.sink.WriterSettings;
import dev.penstock.proto.v1.OpenWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Properties;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.metrics.groups.SinkCommitterMetricGroup;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The two committers under test, made by the sinks that users have. */
enum Committers {
    /** What stock Flink commits with; more attempts do not help a wedged one. */
    BARE(2),
    /** What Penstock commits with: the same, rebuilt after a timeout; each new one may find a machine that is slow. */
    WRAPPED(5);

    private final int attempts;

    Committers(int attempts) {
        this.attempts = attempts;
    }

    /** How often a commit is tried before it is given up. */
    int attempts() {
        return attempts;
    }

    /** The committer of a fresh job, whose metrics nobody reads. */
    Committer<KafkaCommittable> open(Properties properties, String prefix, int attempt) throws IOException {
        return open(properties, prefix, attempt, 0, new CommitMetrics());
    }

    /**
     * Opens a committer.
     *
     * @param restored the checkpoint that its task was restored from, or 0
     */
    Committer<KafkaCommittable> open(
            Properties properties, String prefix, int attempt, long restored, CommitMetrics metrics)
            throws IOException {
        KafkaSink<RowData> stock = KafkaSink.<RowData>builder()
                .setBootstrapServers(properties.getProperty("bootstrap.servers"))
                .setKafkaProducerConfig(properties)
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(prefix)
                .setRecordSerializer((KafkaRecordSerializationSchema<RowData>)
                        (row, context, timestamp) -> new ProducerRecord<>("unused", new byte[0]))
                .build();
        CommitterInitContext context = new Context(attempt, restored, metrics);
        if (this == BARE) {
            return stock.createCommitter(context);
        }
        WriterSettings settings =
                new WriterSettings(FallbackMode.STOCK, null, Duration.ofSeconds(1), Duration.ZERO, 1, true);
        NativePlan plan = new NativePlan(OpenWriter.newBuilder().setTopic(prefix).build().toByteArray(),
                RowType.of(new BigIntType()), DeliveryGuarantee.EXACTLY_ONCE,
                prefix, properties, settings, "t");
        return new PenstockKafkaSink(stock, plan).createCommitter(context);
    }

    private record Context(int attempt, long restored, CommitMetrics metrics) implements CommitterInitContext {

        @Override
        public SinkCommitterMetricGroup metricGroup() {
            return metrics;
        }

        @Override
        public OptionalLong getRestoredCheckpointId() {
            return restored == 0 ? OptionalLong.empty() : OptionalLong.of(restored);
        }

        @Override
        public JobInfo getJobInfo() {
            throw new UnsupportedOperationException("a committer does not ask for its job");
        }

        @Override
        public TaskInfo getTaskInfo() {
            return new Task(attempt);
        }
    }

    private record Task(int attempt) implements TaskInfo {

        @Override
        public String getTaskName() {
            return "committer";
        }

        @Override
        public int getMaxNumberOfParallelSubtasks() {
            return 1;
        }

        @Override
        public int getIndexOfThisSubtask() {
            return 0;
        }

        @Override
        public int getNumberOfParallelSubtasks() {
            return 1;
        }

        @Override
        public int getAttemptNumber() {
            return attempt;
        }

        @Override
        public String getTaskNameWithSubtasks() {
            return "committer (1/1)#" + attempt;
        }

        @Override
        public String getAllocationIDAsString() {
            return "none";
        }
    }
}
