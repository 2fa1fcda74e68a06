package dev.penstock.flink.sink;

import dev.penstock.proto.v1.WriterProgress;
import dev.penstock.session.DaemonSession;
import java.util.function.LongSupplier;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;

/**
 * The metrics of one writer. Stock's names keep their meaning: numRecordsSend (numRecordsOut) counts rows given to the
 * writer, numBytesSend (numBytesOut) bytes of encoded records, numRecordsSendErrors (numRecordsOutErrors) failures,
 * currentSendTime the milliseconds of the last flush. New ones are in the group {@code penstock}; nanoseconds are
 * totals. Updated by the task thread, read by reporters.
 */
final class WriterMetrics {

    /** The group of the metrics that stock does not have. */
    static final String GROUP = "penstock";

    /** How often the byte counter follows the daemon's total; stock's interval. */
    private static final long SYNC_MILLIS = 500;

    private final SinkWriterMetricGroup sink;
    private final Counter rows;
    private final Counter bytes;
    private final Counter errors;
    private final Counter warmHits;
    private volatile boolean fallback;
    private volatile long sealNanos;
    private volatile long lastFlushMillis = -1;
    private volatile boolean closed;
    private long countedBytes;

    WriterMetrics(SinkWriterMetricGroup sink) {
        this.sink = sink;
        this.rows = sink.getIOMetricGroup().getNumRecordsOutCounter();
        this.bytes = sink.getIOMetricGroup().getNumBytesOutCounter();
        this.errors = sink.getNumRecordsOutErrorsCounter();
        MetricGroup group = sink.addGroup(GROUP);
        this.warmHits = group.counter("warmHits");
        group.gauge("fallback", (Gauge<Integer>) () -> fallback ? 1 : 0);
        group.gauge("sealNanos", (Gauge<Long>) () -> sealNanos);
    }

    /** The stock writer does the job; it registers stock's metrics itself. */
    void fellBack() {
        fallback = true;
    }

    /** Registers what the native writer measures and starts to follow the daemon's byte total. */
    void startNative(DaemonWriter daemon, RowBatcher batcher, ProcessingTimeService timers) {
        MetricGroup group = sink.addGroup(GROUP);
        gauge(group, "columnWriteNanos", batcher::columnNanos);
        gauge(group, "waitNanos", daemon::waitNanos);
        gauge(group, "nativeBatches", daemon::batches);
        gauge(group, "nativeRows", batcher::submittedRows);
        gauge(group, "encodeNanos", () -> daemon.progress().getEncodeNanos());
        gauge(group, "encodedBytes", () -> daemon.progress().getBytesEncoded());
        gauge(group, "produceNanos", () -> daemon.progress().getProduceNanos());
        gauge(group, "denials", daemon::denials);
        gauge(group, "leakedSegments", DaemonSession::leakedSegments);
        NativeMemoryMetrics.register(group, daemon);
        sink.setCurrentSendTimeGauge(() -> lastFlushMillis);
        scheduleSync(daemon, timers);
    }

    void rowWritten() {
        rows.inc();
    }

    void failed() {
        errors.inc();
    }

    void begun(boolean warm) {
        if (warm) {
            warmHits.inc();
        }
    }

    /** Notes a flush or seal that took {@code nanos}. */
    void flushed(long nanos) {
        sealNanos += nanos;
        lastFlushMillis = nanos / 1_000_000;
    }

    /** Brings the byte counter up to date. */
    void syncBytes(DaemonWriter daemon) {
        WriterProgress progress = daemon.progress();
        bytes.inc(progress.getBytesEncoded() - countedBytes);
        countedBytes = progress.getBytesEncoded();
    }

    void close() {
        closed = true;
    }

    private void scheduleSync(DaemonWriter daemon, ProcessingTimeService timers) {
        timers.registerTimer(
                timers.getCurrentProcessingTime() + SYNC_MILLIS,
                now -> {
                    if (!closed) {
                        syncBytes(daemon);
                        scheduleSync(daemon, timers);
                    }
                });
    }

    static void gauge(MetricGroup group, String name, LongSupplier value) {
        group.gauge(name, (Gauge<Long>) value::getAsLong);
    }
}
