package dev.penstock.flink.sink;

import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;

/**
 * The writer without transactions. At-least-once flushes at every checkpoint; none flushes only at the end of input, as
 * the connector's KafkaWriter does. The daemon keeps one producer, and this writer one epoch, for the life of the
 * attempt.
 */
final class PlainPenstockWriter extends PenstockWriter {

    private static final long EPOCH = 1;

    private final boolean flushAtCheckpoints;

    /**
     * Takes over {@code parts}.
     *
     * @param flushAtCheckpoints true for at-least-once, false for none
     */
    PlainPenstockWriter(Parts parts, boolean flushAtCheckpoints) {
        super(parts);
        this.flushAtCheckpoints = flushAtCheckpoints;
    }

    @Override
    void initialize() throws IOException {
        super.initialize();
        daemon.begin(EPOCH, "", List.of(), deadlines.begin());
        batcher.startEpoch();
    }

    @Override
    void ensureEpoch() {
        // The one epoch was begun by initialize.
    }

    @Override
    public void flush(boolean endOfInput) throws IOException {
        try {
            daemon.checkFailure();
            if (flushAtCheckpoints || endOfInput) {
                batcher.submitAtBarrier();
                long start = System.nanoTime();
                daemon.flush(EPOCH, batcher.epochRows(), deadlines.seal());
                metrics.flushed(System.nanoTime() - start);
                metrics.syncBytes(daemon);
            }
            daemon.checkFailure();
        } catch (DaemonException e) {
            throw failure(e);
        }
    }

    @Override
    public Collection<KafkaCommittable> prepareCommit() {
        return List.of();
    }

    @Override
    public List<KafkaWriterState> snapshotState(long checkpointId) {
        return List.of();
    }

    @Override
    void abandon() {
        // Stock closes its producer without a flush; what was not flushed is replayed or was never promised.
    }
}
