package dev.penstock.flink.sink;

import dev.penstock.arena.Extent;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.time.Duration;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.table.data.RowData;

/**
 * Turns rows into batches: writes each row's columns straight into an extent of shared memory and hands the extent over
 * when it is full by bytes or rows, when its linger time is over, or when it is told to. Used by the task thread only.
 *
 * <p>Time is measured on one row in {@value #SAMPLE}: a clock read costs as much as writing half a row.
 */
final class RowBatcher {

    /** A power of two. */
    private static final int SAMPLE = 1024;
    private static final long NEAR_LINGER_MILLIS = 3;

    /** A way for a batch to the daemon. */
    private interface Submission {
        void of(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException;
    }

    private final RowColumnWriter columns;
    private final DaemonWriter daemon;
    private final WriterSettings settings;
    private final Duration extentTimeout;
    private final ProcessingTimeService timers;

    private final ExpectedBarrier barrier = new ExpectedBarrier();
    private Extent extent;
    /** When the open batch has lingered long enough. */
    private long due;
    private boolean timerPending;
    private boolean closed;
    private long epochRows;
    private long submittedRows;
    private long columnNanos;
    private int untilSample = SAMPLE;

    RowBatcher(
            RowColumnWriter columns,
            DaemonWriter daemon,
            WriterSettings settings,
            Duration extentTimeout,
            ProcessingTimeService timers) {
        this.columns = columns;
        this.daemon = daemon;
        this.settings = settings;
        this.extentTimeout = extentTimeout;
        this.timers = timers;
    }

    /**
     * Adds a row to the open epoch. Waits when no extent is free, at most as long as KafkaProducer.send would
     * ({@code max.block.ms}).
     */
    void add(RowData row) throws IOException {
        if (extent == null) {
            openBatch(0);
        }
        if (!append(row)) {
            addToNewBatch(row);
        }
        epochRows++;
        if (columns.rowCount() >= settings.batchRows()) {
            submit();
        }
    }

    /** Hands the unfinished batch over, if there is one. */
    void submit() throws DaemonException {
        submit(daemon::submit);
    }

    private void submit(Submission submission) throws DaemonException {
        if (extent == null) {
            return;
        }
        int rows = columns.rowCount();
        int bytes = rows == 0 ? 0 : columns.finish();
        Extent full = extent;
        extent = null;
        if (rows == 0) {
            daemon.giveBack(full);
            return;
        }
        submission.of(full, bytes, columns.schemaTag(), rows, columns.flags());
        submittedRows += rows;
    }

    /** Hands the unfinished batch over because a barrier has come. */
    void submitAtBarrier() throws DaemonException {
        barrier.passed(timers.getCurrentProcessingTime());
        submit(daemon::submitLast);
    }

    /** Where in its batch the next row stands, or the one that {@link #add} has just refused; counts from 0. */
    int rowOfBatch() {
        return extent == null ? 0 : columns.rowCount();
    }

    /** Starts counting the rows of a new epoch. */
    void startEpoch() {
        epochRows = 0;
    }

    /** Rows that were added since {@link #startEpoch}. */
    long epochRows() {
        return epochRows;
    }

    /** Rows handed over in the life of this writer. */
    long submittedRows() {
        return submittedRows;
    }

    /** Estimated nanoseconds spent in writing columns. */
    long columnNanos() {
        return columnNanos;
    }

    /** Drops the unfinished batch and ignores timers from here on. */
    void close() {
        closed = true;
        if (extent != null) {
            daemon.giveBack(extent);
            extent = null;
        }
    }

    private boolean append(RowData row) {
        if (--untilSample > 0) {
            return columns.append(row);
        }
        untilSample = SAMPLE;
        long start = System.nanoTime();
        boolean fits = columns.append(row);
        columnNanos += (System.nanoTime() - start) * SAMPLE;
        return fits;
    }

    /** The row did not fit into what is left: it opens a batch of its own size class. */
    private void addToNewBatch(RowData row) throws IOException {
        if (columns.rowCount() > 0) {
            submit();
            openBatch(0);
            if (append(row)) {
                return;
            }
        }
        daemon.giveBack(extent);
        extent = null;
        int need = columns.minimumExtentBytes(row);
        if (need > daemon.maxBatchBytes()) {
            throw new IOException(
                    "A row needs "
                            + need
                            + " bytes as a batch of its own, but penstockd takes batches of at most "
                            + daemon.maxBatchBytes()
                            + " bytes: raise arena.segment in the daemon's configuration (TaskManagers connect"
                            + " again by themselves), or make the row smaller.");
        }
        openBatch(need);
        if (!append(row)) {
            throw new IllegalStateException(
                    "A row was said to need " + need + " bytes and does not fit into " + extent.capacity() + ".");
        }
    }

    private void openBatch(int minBytes) throws DaemonException {
        extent = daemon.nextExtent(minBytes, extentTimeout);
        columns.begin(extent);
        long now = timers.getCurrentProcessingTime();
        due = now + lingerMillis(now);
        if (!timerPending) {
            registerTimer(due);
        }
    }

    /** Rows that linger are in front of the barrier, so that near one they do it for a shorter time. */
    private long lingerMillis(long now) {
        long linger = settings.linger().toMillis();
        return barrier.isNear(now) ? Math.min(linger, NEAR_LINGER_MILLIS) : linger;
    }

    /** One timer at a time, however many batches fill up before it fires. */
    private void registerTimer(long at) {
        timerPending = true;
        timers.registerTimer(at, this::onTimer);
    }

    private void onTimer(long now) throws DaemonException {
        timerPending = false;
        if (closed || extent == null) {
            return;
        }
        if (now < due) {
            registerTimer(due);
        } else {
            submit();
        }
    }
}
