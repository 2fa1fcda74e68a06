package dev.penstock.flink.sink;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.WriterProgress;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import dev.penstock.session.WriterStream;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The real {@link DaemonWriter}: one stream of this process's session; both are released together. */
final class StreamDaemonWriter implements DaemonWriter {

    private static final Logger LOG = LoggerFactory.getLogger(StreamDaemonWriter.class);

    private final DaemonSession session;
    private final WriterStream stream;
    private boolean closed;

    private StreamDaemonWriter(DaemonSession session, WriterStream stream) {
        this.session = session;
        this.stream = stream;
    }

    /**
     * Joins the process's session and opens a writer on it, within {@code settings.connectTimeout()} for each step. A
     * daemon that was restarted in between does not know the session; then there is a new one.
     */
    static StreamDaemonWriter open(SessionSettings settings, OpenWriter.Builder open) throws DaemonException {
        try {
            return openOnce(settings, open);
        } catch (DaemonException e) {
            if (e.kind() != ErrorKind.FOREIGN_HANDLE) {
                throw e;
            }
            LOG.info("The session was that of another life of penstockd, opening a new one: {}", e.getMessage());
            return openOnce(settings, open);
        }
    }

    private static StreamDaemonWriter openOnce(SessionSettings settings, OpenWriter.Builder open) throws DaemonException {
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
    public void submitLast(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        stream.submitLast(extent, bodyBytes, schemaTag, rows, flags);
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
    public void startBegin(long epochId, String transactionalId, List<String> gaps, Duration timeout)
            throws DaemonException {
        stream.startBegin(epochId, transactionalId, gaps, timeout);
    }

    @Override
    public EpochBegun awaitBegun() throws DaemonException {
        return stream.awaitBegun();
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
    public AccountReport account() {
        return session.account();
    }

    @Override
    public long arrowBytes() {
        return session.arrowBytes();
    }

    @Override
    public long parkedBytes() {
        return session.parkedBytes();
    }

    @Override
    public long pinnedBytes() {
        return session.pinnedBytes();
    }

    @Override
    public long denials() {
        return stream.denials();
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
