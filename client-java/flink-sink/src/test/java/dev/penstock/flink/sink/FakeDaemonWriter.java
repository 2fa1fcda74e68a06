package dev.penstock.flink.sink;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.WriterProgress;
import dev.penstock.session.DaemonException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A daemon that notes every call in one line, acknowledges everything at once, and fails on request. */
final class FakeDaemonWriter implements DaemonWriter {

    /** What was called, in order; extents and looks at counters are left out. */
    final List<String> calls = new ArrayList<>();

    /** Capacity of an ordinary extent, bytes. */
    int extentBytes = 1 << 16;

    long maxBatchBytes = 1 << 20;
    AccountReport account = AccountReport.getDefaultInstance();
    long arrowBytes;
    boolean warmHit;

    /** Added to the number of rows in the answer to seal. */
    long sealedRowsError;

    /** When set, every call and check throws it. */
    DaemonException failure;

    int lent;
    private Runnable listener = () -> {};
    /** The epoch that was started and not awaited. */
    private EpochBegun beginning;

    private long epochRows;
    private long batches;
    private String transactionalId;

    /** Fails like a broken stream. */
    void fail(ErrorKind kind, String message) {
        failure = new DaemonException(kind, message);
        listener.run();
    }

    @Override
    public Extent nextExtent(int minBytes, Duration timeout) throws DaemonException {
        checkFailure();
        int capacity = Math.max(minBytes, extentBytes);
        lent++;
        return new Extent(1, ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN), 0, capacity);
    }

    @Override
    public void defineSchemas(DefineSchemas ids) throws DaemonException {
        checkFailure();
        calls.add("define" + (ids.hasKeySchemaId() ? " key " + ids.getKeySchemaId() : "")
                + (ids.hasValueSchemaId() ? " value " + ids.getValueSchemaId() : ""));
    }

    @Override
    public void submit(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        checkFailure();
        requireBegun();
        lent--;
        batches++;
        epochRows += rows;
        calls.add("submit " + rows);
    }

    @Override
    public void submitLast(Extent extent, int bodyBytes, int schemaTag, int rows, int flags) throws DaemonException {
        submit(extent, bodyBytes, schemaTag, rows, flags);
        calls.set(calls.size() - 1, "submit last " + rows);
    }

    @Override
    public void giveBack(Extent extent) {
        lent--;
    }

    @Override
    public void warm(String id) {
        calls.add("warm " + id);
    }

    @Override
    public EpochBegun begin(long epochId, String id, List<String> gaps, Duration timeout) throws DaemonException {
        startBegin(epochId, id, gaps, timeout);
        EpochBegun begun = beginning;
        beginning = null;
        return begun;
    }

    @Override
    public void startBegin(long epochId, String id, List<String> gaps, Duration timeout) throws DaemonException {
        checkFailure();
        requireBegun();
        calls.add(("begin " + epochId + " " + id + (gaps.isEmpty() ? "" : " after " + gaps)).trim());
        transactionalId = id;
        epochRows = 0;
        beginning = EpochBegun.newBuilder().setEpochId(epochId).setTransactionalId(id).setWarm(warmHit).build();
    }

    @Override
    public EpochBegun awaitBegun() throws DaemonException {
        checkFailure();
        EpochBegun begun = beginning;
        if (begun == null) {
            throw new IllegalStateException("no epoch is beginning");
        }
        beginning = null;
        calls.add("begun " + begun.getEpochId());
        return begun;
    }

    private void requireBegun() {
        if (beginning != null) {
            throw new IllegalStateException("nobody has awaited the begin of epoch " + beginning.getEpochId());
        }
    }

    @Override
    public EpochSealed seal(long epochId, long rows, Duration timeout) throws DaemonException {
        checkFailure();
        requireBegun();
        calls.add("seal " + epochId + " rows " + rows + " of " + epochRows);
        return EpochSealed.newBuilder()
                .setEpochId(epochId)
                .setTransactionalId(transactionalId)
                .setProducerId(100 + epochId)
                .setProducerEpoch(3)
                .setRows(epochRows + sealedRowsError)
                .build();
    }

    @Override
    public EpochFlushed flush(long epochId, long rows, Duration timeout) throws DaemonException {
        checkFailure();
        requireBegun();
        calls.add("flush " + epochId + " rows " + rows);
        return EpochFlushed.newBuilder().setEpochId(epochId).setRows(epochRows).build();
    }

    @Override
    public void abort(long epochId, Duration timeout) throws DaemonException {
        checkFailure();
        requireBegun();
        calls.add("abort " + epochId);
    }

    @Override
    public void checkFailure() throws DaemonException {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void onFailure(Runnable action) {
        listener = action;
    }

    @Override
    public WriterProgress progress() {
        return WriterProgress.getDefaultInstance();
    }

    @Override
    public AccountReport account() {
        return account;
    }

    @Override
    public long arrowBytes() {
        return arrowBytes;
    }

    @Override
    public long parkedBytes() {
        return 7;
    }

    @Override
    public long pinnedBytes() {
        return 9;
    }

    @Override
    public long denials() {
        return 0;
    }

    @Override
    public long waitNanos() {
        return 0;
    }

    @Override
    public long batches() {
        return batches;
    }

    @Override
    public long maxBatchBytes() {
        return maxBatchBytes;
    }

    @Override
    public void close(Duration timeout) {
        calls.add("close");
    }
}
