package dev.penstock.flink.sink;

import dev.penstock.flink.columns.RowColumnWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.connector.kafka.sink.internal.BackchannelFactory;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;
import org.apache.flink.connector.kafka.sink.internal.WritableBackchannel;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/** A writer on a fake daemon, with everything around it in the test's hands. */
final class WriterFixture implements AutoCloseable {

    static final RowType TYPE = RowType.of(new BigIntType(), new VarCharType(VarCharType.MAX_LENGTH));

    /** The daemon's calls, with "abort lingering" where the writer asked for that. */
    final FakeDaemonWriter daemon = new FakeDaemonWriter();

    final ManualTimers timers = new ManualTimers();
    final ManualMailbox mailbox = new ManualMailbox();
    final WriterMetrics metrics = new WriterMetrics(UnregisteredMetricsGroup.createSinkWriterMetricGroup());
    final WriterSettings settings;
    final RowBatcher batcher;

    /** Of the transactions of the writers that are made from here on; Flink's default. */
    long transactionTimeoutMillis = 3_600_000;

    /** Of the writers that are made from here on; needs no schema. */
    SchemaIds schemaIds = new SchemaIds(null, null, null);

    private final List<AutoCloseable> open = new ArrayList<>();

    WriterFixture() {
        this(settings(1000));
    }

    WriterFixture(WriterSettings settings) {
        this.settings = settings;
        this.batcher = new RowBatcher(new RowColumnWriter(TYPE), daemon, settings, Duration.ofSeconds(1), timers);
    }

    static WriterSettings settings(int batchRows) {
        return new WriterSettings(
                FallbackMode.STOCK, "/nowhere", Duration.ofSeconds(1), Duration.ofMillis(10), batchRows, true);
    }

    static GenericRowData row(long id, String text) {
        return GenericRowData.of(id, StringData.fromString(text));
    }

    PenstockWriter.Parts parts() {
        Duration any = Duration.ofSeconds(1);
        return new PenstockWriter.Parts(
                "cat.db.orders", daemon, batcher, schemaIds, metrics, new Deadlines(any, any, any, any), mailbox);
    }

    /** The committer's end of the back-channel of {@code prefix}. */
    WritableBackchannel<TransactionFinished> committer(String prefix) {
        WritableBackchannel<TransactionFinished> end =
                BackchannelFactory.getInstance().getWritableBackchannel(0, 0, prefix);
        open.add(end::close);
        return end;
    }

    /** An initialised writer of subtask 0 of 1. The prefix must be used by one fixture at a time. */
    ExactlyOncePenstockWriter exactlyOnce(String prefix, long restored, Collection<KafkaWriterState> recovered)
            throws Exception {
        ExactlyOncePenstockWriter writer =
                new ExactlyOncePenstockWriter(
                        parts(),
                        new TransactionNames(prefix, 0, 1, recovered),
                        BackchannelFactory.getInstance().getReadableBackchannel(0, 0, prefix),
                        restored,
                        recovered.stream().flatMap(s -> s.getPrecommittedTransactionalIds().stream()).toList(),
                        new CommitDeadline(transactionTimeoutMillis, timers.alarmClock()),
                        settings.warmPool(),
                        () -> daemon.calls.add("abort lingering"));
        open.add(writer);
        writer.initialize();
        return writer;
    }

    PlainPenstockWriter plain(boolean flushAtCheckpoints) throws Exception {
        PlainPenstockWriter writer = new PlainPenstockWriter(parts(), flushAtCheckpoints);
        open.add(writer);
        writer.initialize();
        return writer;
    }

    /** The calls since the last time, and forgets them. */
    List<String> calls() {
        List<String> calls = List.copyOf(daemon.calls);
        daemon.calls.clear();
        return calls;
    }

    @Override
    public void close() throws Exception {
        daemon.failure = null;
        for (AutoCloseable closeable : open) {
            closeable.close();
        }
    }
}
