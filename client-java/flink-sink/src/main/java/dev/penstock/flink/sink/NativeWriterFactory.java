package dev.penstock.flink.sink;

import dev.penstock.flink.columns.NullKeys;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.proto.v1.KafkaConfig;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.connector.sink2.InitContext;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.BackchannelFactory;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.ReadableBackchannel;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;

/** Builds and initialises a native writer from a plan, in the order that keeps every failure harmless. */
final class NativeWriterFactory {

    private final NativePlan plan;
    private final WriterInitContext context;
    private final WriterMetrics metrics;

    NativeWriterFactory(NativePlan plan, WriterInitContext context, WriterMetrics metrics) {
        this.plan = plan;
        this.context = context;
        this.metrics = metrics;
    }

    /**
     * Opens the daemon's side first, then everything else, and begins the first epoch. When this throws, nothing is
     * left open and no transaction of ours is pending, so another writer may start from the same state.
     */
    PenstockWriter create(DaemonConnector connector, Collection<KafkaWriterState> recovered) throws IOException {
        DaemonWriter daemon = connector.connect(plan, context);
        PenstockWriter writer;
        OpenWriter open = plan.openMessage().build();
        Deadlines deadlines = Deadlines.of(open.getKafka());
        try {
            writer = build(parts(daemon, deadlines), open.getKafka(), recovered);
        } catch (Throwable t) {
            daemon.close(deadlines.close());
            throw t;
        }
        initialize(writer);
        return writer;
    }

    private static void initialize(PenstockWriter writer) throws IOException {
        try {
            writer.initialize();
        } catch (Throwable t) {
            try {
                writer.close();
            } catch (Exception e) {
                t.addSuppressed(e);
            }
            throw t;
        }
    }

    private PenstockWriter.Parts parts(DaemonWriter daemon, Deadlines deadlines) {
        ProcessingTimeService timers = context.getProcessingTimeService();
        OpenWriter open = plan.openMessage().build();
        RowColumnWriter columns = new RowColumnWriter(plan.rowType(), column -> NullKeys.of(open, column));
        RowBatcher batcher = new RowBatcher(columns, daemon, plan.settings(), deadlines.extent(), timers);
        metrics.startNative(daemon, batcher, timers);
        SchemaIds schemaIds =
                new SchemaIds(
                        plan.keySchema(), plan.valueSchema(), context.asSerializationSchemaInitializationContext());
        return new PenstockWriter.Parts(
                plan.table(), daemon, batcher, schemaIds, metrics, deadlines, context.getMailboxExecutor());
    }

    private PenstockWriter build(
            PenstockWriter.Parts parts, KafkaConfig kafka, Collection<KafkaWriterState> recovered) {
        if (plan.guarantee() != DeliveryGuarantee.EXACTLY_ONCE) {
            return new PlainPenstockWriter(parts, plan.guarantee() == DeliveryGuarantee.AT_LEAST_ONCE);
        }
        TaskInfo task = context.getTaskInfo();
        int subtask = task.getIndexOfThisSubtask();
        int parallelism = task.getNumberOfParallelSubtasks();
        long restored = context.getRestoredCheckpointId().orElse(InitContext.INITIAL_CHECKPOINT_ID - 1);
        TransactionNames names =
                new TransactionNames(plan.transactionalIdPrefix(), subtask, parallelism, recovered);
        List<CheckpointTransaction> precommitted =
                recovered.stream().flatMap(s -> s.getPrecommittedTransactionalIds().stream()).toList();
        ReadableBackchannel<TransactionFinished> backchannel =
                BackchannelFactory.getInstance()
                        .getReadableBackchannel(subtask, task.getAttemptNumber(), plan.transactionalIdPrefix());
        return new ExactlyOncePenstockWriter(
                parts,
                names,
                backchannel,
                restored,
                precommitted,
                new CommitDeadline(
                        Integer.toUnsignedLong(kafka.getTransactionTimeoutMs()),
                        new ThreadAlarmClock("penstock-commit-deadline " + task.getTaskNameWithSubtasks())),
                plan.settings().warmPool(),
                () ->
                        LingeringTransactions.abort(
                                plan.producerProperties(), names, subtask, parallelism, recovered, restored + 1));
    }

    /**
     * Whether the stock writer may do the job after this failure of {@link #create}. FENCED says that another attempt
     * owns the job, which stock would only find out later; a failed epoch is a matter of the broker, which stock would
     * meet too.
     */
    static boolean mayFallBack(IOException failure) {
        if (failure instanceof NotNativeException) {
            return true;
        }
        return failure instanceof DaemonException daemon
                && switch (daemon.kind()) {
                    case FENCED, FAIL_EPOCH -> false;
                    default -> true;
                };
    }
}
