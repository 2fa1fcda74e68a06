package dev.penstock.flink.sink;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.WriterProgress;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import dev.penstock.session.WriterStream;
import java.time.Duration;
import java.util.List;

/** The real {@link DaemonWriter}: one stream of this process's session; both are released together. */
final class StreamDaemonWriter implements DaemonWriter {

    private final DaemonSession session;
    private final WriterStream stream;
    private boolean closed;

    private StreamDaemonWriter(DaemonSession session, WriterStream stream) {
        this.session = session;
        this.stream = stream;
    }

    /** Joins the process's session and opens a writer on it, within {@code settings.connectTimeout()} for each step. */
    static StreamDaemonWriter open(SessionSettings settings, OpenWriter.Builder open) throws DaemonException {
        DaemonSession session = DaemonSession.acquire(settings);
        try {
            return new StreamDaemonWriter(session, session.openWriter(open, settings.connectTimeout()));
        } catch (DaemonException | RuntimeException e) {
            session.release();
            throw e;
        }
    }

    @Override
    public Extent nextExtent(int minBytes, Duration timeout) throws DaemonException {
        return stream.nextExtent(minBytes, timeout);
    }

    @Override
    public void defineSchemas(DefineSchemas ids) throws DaemonException {
        stream.defineSchemas(ids);
    }

    @Override
    public void submit(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        stream.submit(extent, bodyBytes, schemaTag, rows, flags);
    }

    @Override
    public void giveBack(Extent extent) {
        stream.giveBack(extent);
    }

    @Override
    public void warm(String transactionalId) throws DaemonException {
        stream.warm(transactionalId);
    }

    @Override
    public EpochBegun begin(long epochId, String transactionalId, List<String> gaps, Duration timeout)
            throws DaemonException {
        return stream.begin(epochId, transactionalId, gaps, timeout);
    }

    @Override
    public EpochSealed seal(long epochId, long rows, Duration timeout) throws DaemonException {
        return stream.seal(epochId, rows, timeout);
    }

    @Override
    public EpochFlushed flush(long epochId, long rows, Duration timeout) throws DaemonException {
        return stream.flush(epochId, rows, timeout);
    }

    @Override
    public void abort(long epochId, Duration timeout) throws DaemonException {
        stream.abort(epochId, timeout);
    }

    @Override
    public void checkFailure() throws DaemonException {
        stream.checkFailure();
    }

    @Override
    public void onFailure(Runnable action) {
        stream.onFailure(action);
    }

    @Override
    public WriterProgress progress() {
        return stream.progress();
    }

    @Override
    public long waitNanos() {
        return stream.waitNanos();
    }

    @Override
    public long batches() {
        return stream.batches();
    }

    @Override
    public long maxBatchBytes() {
        return session.maxBatchBytes();
    }

    @Override
    public void close(Duration timeout) {
        if (closed) {
            return;
        }
        closed = true;
        try {
            stream.close(timeout);
        } finally {
            session.release();
        }
    }
}
