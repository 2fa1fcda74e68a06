package dev.penstock.flink.sink;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stock committer, replaced by a new one after every commit that it wants to retry.
 *
 * <p>A commit that timed out leaves the stock committing producer poisoned: the late answer of the broker either wedges
 * every later commit, or is taken for the answer to the <em>next</em> transaction, which is then reported as committed
 * without any request being sent (kafka.md 9.1 S1, 9.5). So requests go to the delegate one at a time, and after the
 * first one that it answers with {@code retryLater} nothing more is committed through it. What it gives up for a known
 * reason is looked into ({@link RefusedCommits}). Used by the task thread only.
 */
final class RebuildingCommitter implements Committer<KafkaCommittable> {

    private static final Logger LOG = LoggerFactory.getLogger(RebuildingCommitter.class);

    /** Longest wait for a delegate to close; KafkaProducer.close(0) took 0.6 s with a stopped broker. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(15);

    private final Supplier<Committer<KafkaCommittable>> factory;
    private final Duration closeTimeout;
    private final RefusedCommits refused;
    private Committer<KafkaCommittable> delegate;

    RebuildingCommitter(Supplier<Committer<KafkaCommittable>> factory, RefusedCommits refused) {
        this(factory, refused, CLOSE_TIMEOUT);
    }

    RebuildingCommitter(
            Supplier<Committer<KafkaCommittable>> factory, RefusedCommits refused, Duration closeTimeout) {
        this.factory = factory;
        this.refused = refused;
        this.closeTimeout = closeTimeout;
        // Not lazily: the committer registers the back-channel before the writer looks for it.
        this.delegate = factory.get();
    }

    @Override
    public void commit(Collection<CommitRequest<KafkaCommittable>> requests) throws IOException, InterruptedException {
        FaultPoint.BEFORE_COMMIT.hit();
        for (CommitRequest<KafkaCommittable> request : requests) {
            WatchedRequest watched = new WatchedRequest(request);
            delegate.commit(List.of(watched));
            if (watched.retried) {
                LOG.info("Building a new committer: the commit of {} is to be retried.", request.getCommittable());
                rebuild();
            }
            if (watched.refusal != null) {
                refused.add(request.getCommittable(), request.getNumberOfRetries(), watched.refusal);
            }
        }
        // Not when a commit throws: the job fails over, and what was refused is refused again.
        refused.report();
        FaultPoint.AFTER_COMMIT.hit();
    }

    /** Throws nothing: see {@link PenstockWriter#close}. What was committed is committed. */
    @Override
    public void close() {
        if (delegate == null) {
            return;
        }
        try {
            delegate.close();
        } catch (Exception e) {
            LOG.warn("Could not close the committer.", e);
        }
    }

    private void rebuild() throws IOException, InterruptedException {
        Committer<KafkaCommittable> poisoned = delegate;
        delegate = null;
        closeBounded(poisoned);
        // Registers the same back-channel again: the writer keeps its end, and reports sent so far are still in it.
        delegate = factory.get();
    }

    /** Closes in a thread of its own, because the client may wait for a broker that does not answer. */
    private void closeBounded(Committer<KafkaCommittable> committer) throws IOException, InterruptedException {
        Exception[] failure = new Exception[1];
        Thread closer =
                new Thread(
                        () -> {
                            try {
                                committer.close();
                            } catch (Exception e) {
                                failure[0] = e;
                            }
                        },
                        "penstock-committer-close");
        closer.setDaemon(true);
        closer.start();
        closer.join(closeTimeout.toMillis());
        if (closer.isAlive()) {
            // Going on is safe only with a new producer, and the stock committer gives up its back-channel end before
            // it closes the producer: if it has not even done that, building the next one fails, and the job fails
            // over.
            LOG.warn("The poisoned committer has not closed within {}; leaving it to its thread.", closeTimeout);
        } else if (failure[0] != null) {
            throw new IOException("Could not close the committer after a commit that timed out.", failure[0]);
        }
    }

    /** Passes everything on and remembers whether the delegate asked for a retry or gave up for a known reason. */
    private static final class WatchedRequest implements CommitRequest<KafkaCommittable> {
        private final CommitRequest<KafkaCommittable> request;
        private boolean retried;
        private Throwable refusal;

        WatchedRequest(CommitRequest<KafkaCommittable> request) {
            this.request = request;
        }

        @Override
        public KafkaCommittable getCommittable() {
            return request.getCommittable();
        }

        @Override
        public int getNumberOfRetries() {
            return request.getNumberOfRetries();
        }

        @Override
        public void signalFailedWithKnownReason(Throwable t) {
            refusal = t;
            request.signalFailedWithKnownReason(t);
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable t) {
            request.signalFailedWithUnknownReason(UncommittableTransaction.explain(t, request.getCommittable()));
        }

        @Override
        public void retryLater() {
            retried = true;
            request.retryLater();
        }

        @Override
        public void updateAndRetryLater(KafkaCommittable committable) {
            retried = true;
            request.updateAndRetryLater(committable);
        }

        @Override
        public void signalAlreadyCommitted() {
            request.signalAlreadyCommitted();
        }

        @Override
        public String toString() {
            return request.toString();
        }
    }
}
