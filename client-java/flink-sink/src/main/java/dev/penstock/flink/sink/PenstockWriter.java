package dev.penstock.flink.sink;

import dev.penstock.flink.columns.RejectedRowException;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.function.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the native writers of all guarantees share: rows go to the batcher, and a failure of the daemon surfaces on the
 * next write or flush, whichever comes first, and through the mailbox when none comes. All methods run on the task
 * thread.
 */
abstract class PenstockWriter
        implements StatefulSinkWriter<RowData, KafkaWriterState>, CommittingSinkWriter<RowData, KafkaCommittable> {

    private static final Logger LOG = LoggerFactory.getLogger(PenstockWriter.class);

    /** What a writer works with; it owns the daemon writer and closes it. The table is a name for messages. */
    record Parts(
            String table,
            DaemonWriter daemon,
            RowBatcher batcher,
            SchemaIds schemaIds,
            WriterMetrics metrics,
            Deadlines deadlines,
            MailboxExecutor mailbox) {}

    final DaemonWriter daemon;
    final RowBatcher batcher;
    final WriterMetrics metrics;
    final Deadlines deadlines;
    private final String table;
    private final SchemaIds schemaIds;
    private final MailboxExecutor mailbox;
    private volatile boolean closed;
    private boolean reported;

    PenstockWriter(Parts parts) {
        this.table = parts.table();
        this.daemon = parts.daemon();
        this.batcher = parts.batcher();
        this.schemaIds = parts.schemaIds();
        this.metrics = parts.metrics();
        this.deadlines = parts.deadlines();
        this.mailbox = parts.mailbox();
    }

    /** Opens the first epoch. The caller closes the writer when this throws. */
    void initialize() throws IOException {
        daemon.onFailure(this::failThroughMailbox);
    }

    @Override
    public final void write(RowData row, Context context) throws IOException {
        try {
            daemon.checkFailure();
            ensureEpoch();
            if (!schemaIds.known()) {
                schemaIds.learn(row, daemon);
            }
            batcher.add(row);
        } catch (DaemonException e) {
            throw failure(e);
        } catch (RejectedRowException e) {
            throw new IOException(
                    "Penstock could not write table " + table + ": row " + batcher.rowOfBatch() + ": " + e.getMessage(), e);
        }
        metrics.rowWritten();
    }

    /** Sees to it that an epoch is open for the next row. */
    abstract void ensureEpoch() throws DaemonException;

    /** Ends what {@link #close} must not leave to the end of the stream; never throws. */
    abstract void abandon();

    /**
     * Ends the writer. A failure that nothing has thrown yet is counted and logged, not thrown: by now every row that was
     * promised has been proven by a flush, and when the task fails or is cancelled, Flink takes an exception of an
     * operator's close for a fault of the process and ends the TaskManager (Task's handling of a failure since
     * FLINK-38180).
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        metrics.close();
        try {
            FaultPoint.IN_CLOSE.hit();
            daemon.checkFailure();
            abandon();
        } catch (DaemonException e) {
            if (!reported) {
                LOG.warn("The writer is closed with a failure that nothing else has reported.", failure(e));
            }
        } catch (RuntimeException e) {
            // The end of the stream gives up what is left.
            LOG.warn("The writer could not give its epoch up.", e);
        }
        batcher.close();
        daemon.close(deadlines.close());
    }

    /** The exception for the task; counts as one send error, however often it is thrown. */
    final IOException failure(DaemonException e) {
        if (!reported) {
            reported = true;
            metrics.failed();
        }
        return new IOException(
                "Penstock could not write table " + table + " to Kafka (" + e.kind() + "): " + e.getMessage(), e);
    }

    /**
     * Runs on a thread of the transport: an idle task would otherwise not learn of the failure before its next barrier.
     */
    private void failThroughMailbox() {
        inMailbox(this::throwUnreported, "Report a failure of penstockd");
    }

    /** Has the task thread run {@code mail} soon, unless the writer is closed by then. May be called by any thread. */
    final void inMailbox(ThrowingRunnable<IOException> mail, String description) {
        if (closed) {
            return;
        }
        try {
            mailbox.execute(
                    () -> {
                        if (!closed) {
                            mail.run();
                        }
                    },
                    description);
        } catch (RejectedExecutionException e) {
            // The task is ending; close() logs what has not been reported.
        }
    }

    private void throwUnreported() throws IOException {
        if (reported) {
            return;
        }
        try {
            daemon.checkFailure();
        } catch (DaemonException e) {
            throw failure(e);
        }
    }
}
