package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.internal.BackchannelFactory;
import org.apache.flink.connector.kafka.sink.internal.ReadableBackchannel;
import org.apache.flink.connector.kafka.sink.internal.TransactionFinished;
import org.apache.flink.connector.kafka.sink.internal.WritableBackchannel;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.junit.jupiter.api.Test;

class RebuildingCommitterTest {

    private final List<String> log = new ArrayList<>();
    private final Set<String> timingOut = new HashSet<>();
    private final Set<String> fenced = new HashSet<>();
    private final Set<String> asked = new TreeSet<>();
    private final CountedMetrics metrics = new CountedMetrics();
    private final RefusedCommits refused =
            new RefusedCommits(
                    ids -> {
                        asked.addAll(ids);
                        return Map.of();
                    },
                    "bids",
                    3,
                    metrics);
    private final Map<String, Exception> broken = new HashMap<>();
    private int built;

    @Test
    void healthyCommitsStayOnOneDelegate() throws Exception {
        try (RebuildingCommitter committer = new RebuildingCommitter(FakeStock::new, refused)) {
            committer.commit(requests("a", "b"));
        }
        assertEquals(List.of("1 commits a", "1 commits b", "1 closes"), log);
        assertEquals(Set.of(), asked);
    }

    @Test
    void whatTheBrokerRefusesIsLookedIntoOnceAndTogether() throws Exception {
        fenced.addAll(List.of("p-0-3", "p-0-4"));
        try (RebuildingCommitter committer = new RebuildingCommitter(FakeStock::new, refused)) {
            List<Committer.CommitRequest<KafkaCommittable>> requests = requests("p-0-3", "p-0-4", "p-0-5");
            committer.commit(requests);
            assertEquals("fenced", ((FakeRequest) requests.get(0)).refusal.getMessage());
            committer.commit(requests("p-0-6"));
        }
        assertEquals(Set.of("p-0-3", "p-0-4"), asked);
        // Recovered with checkpoint 3, it may have been committed; the one of checkpoint 4 cannot have been.
        assertEquals(Map.of("commitReplaysHarmless", 0L, "commitsLost", 1L, "commitsUnclear", 1L), metrics.values());
    }

    @Test
    void aCommitThatWasRetriedMayHaveSucceededBefore() throws Exception {
        fenced.add("p-0-4");
        FakeRequest request = (FakeRequest) requests("p-0-4").get(0);
        request.retries = 1;
        try (RebuildingCommitter committer = new RebuildingCommitter(FakeStock::new, refused)) {
            committer.commit(List.of(request));
        }
        assertEquals(Map.of("commitReplaysHarmless", 0L, "commitsLost", 0L, "commitsUnclear", 1L), metrics.values());
    }

    @Test
    void nothingIsCommittedThroughADelegateThatTimedOut() throws Exception {
        timingOut.add("a");
        try (RebuildingCommitter committer = new RebuildingCommitter(FakeStock::new, refused)) {
            List<Committer.CommitRequest<KafkaCommittable>> requests = requests("a", "b");
            committer.commit(requests);
            assertTrue(((FakeRequest) requests.get(0)).retried);
            timingOut.clear();
            committer.commit(requests.subList(0, 1));
        }
        assertEquals(
                List.of("1 times out a", "1 closes", "2 commits b", "2 commits a", "2 closes"), log);
    }

    @Test
    void theBackchannelIsRegisteredAgainAndKeepsItsMessages() throws Exception {
        timingOut.add("b");
        BackchannelFactory channels = BackchannelFactory.getInstance();
        try (RebuildingCommitter committer = new RebuildingCommitter(() -> new FakeStock("rebuild"), refused);
                ReadableBackchannel<TransactionFinished> writer = channels.getReadableBackchannel(0, 0, "rebuild")) {
            committer.commit(requests("a", "b", "c"));
            assertTrue(writer.isEstablished());
            assertEquals(TransactionFinished.successful("a"), writer.poll());
            assertEquals(TransactionFinished.successful("c"), writer.poll());
        }
    }

    @Test
    void aDelegateThatDoesNotCloseIsLeftBehind() throws Exception {
        timingOut.add("a");
        CountDownLatch never = new CountDownLatch(1);
        try (RebuildingCommitter committer =
                new RebuildingCommitter(
                        () ->
                                new FakeStock() {
                                    @Override
                                    public void close() {
                                        super.close();
                                        if (number == 1) {
                                            awaitAtMostTenSeconds(never);
                                        }
                                    }
                                },
                        refused,
                        Duration.ofMillis(50))) {
            committer.commit(requests("a", "b"));
            assertEquals("2 commits b", log.get(log.size() - 1));
        } finally {
            never.countDown();
        }
    }

    @Test
    void aTransactionThatTheBrokerForgotEndsTheJob() throws Exception {
        broken.put("a", new KafkaException("abort", new InvalidPidMappingException("forgotten")));
        broken.put("b", new KafkaException("a broker that is ill"));
        List<Committer.CommitRequest<KafkaCommittable>> requests = requests("a", "b");
        try (RebuildingCommitter committer = new RebuildingCommitter(FakeStock::new, refused)) {
            committer.commit(requests);
        }
        Throwable cause = ((FakeRequest) requests.get(0)).unknown;
        assertTrue(
                ThrowableClassifier.findThrowableOfThrowableType(cause, ThrowableType.NonRecoverableError).isPresent());
        assertTrue(cause.getCause().getMessage().startsWith("Transaction a of the restored state"), cause.toString());
        assertEquals(broken.get("b"), ((FakeRequest) requests.get(1)).unknown);
    }

    @Test
    void aDelegateThatFailsToCloseFailsTheTask() {
        timingOut.add("a");
        RebuildingCommitter committer =
                new RebuildingCommitter(
                        () ->
                                new FakeStock() {
                                    @Override
                                    public void close() {
                                        throw new IllegalStateException("broken");
                                    }
                                },
                        refused);
        IOException e = assertThrows(IOException.class, () -> committer.commit(requests("a")));
        assertEquals("broken", e.getCause().getMessage());
    }

    @Test
    void closeThrowsNothingBecauseThatWouldEndTheTaskManager() {
        new RebuildingCommitter(
                        () ->
                                new FakeStock() {
                                    @Override
                                    public void close() {
                                        super.close();
                                        throw new IllegalStateException("broken");
                                    }
                                },
                        refused)
                .close();
        assertEquals(List.of("1 closes"), log);
    }

    /** Bounded, so that a committer that keeps this delegate fails the test instead of hanging it. */
    private static void awaitAtMostTenSeconds(CountDownLatch latch) {
        try {
            latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<Committer.CommitRequest<KafkaCommittable>> requests(String... ids) {
        List<Committer.CommitRequest<KafkaCommittable>> requests = new ArrayList<>();
        for (String id : ids) {
            requests.add(new FakeRequest(new KafkaCommittable(1, (short) 0, id, null)));
        }
        return requests;
    }

    /** Commits everything except the ids in {@code timingOut}, and knows which one of its kind it is. */
    private class FakeStock implements Committer<KafkaCommittable> {
        final int number = ++built;
        private final WritableBackchannel<TransactionFinished> channel;

        FakeStock() {
            this.channel = null;
        }

        FakeStock(String prefix) {
            this.channel = BackchannelFactory.getInstance().getWritableBackchannel(0, 0, prefix);
        }

        @Override
        public void commit(Collection<CommitRequest<KafkaCommittable>> requests) {
            for (CommitRequest<KafkaCommittable> request : requests) {
                String id = request.getCommittable().getTransactionalId();
                if (broken.containsKey(id)) {
                    request.signalFailedWithUnknownReason(broken.get(id));
                } else if (timingOut.contains(id)) {
                    log.add(number + " times out " + id);
                    request.retryLater();
                } else if (fenced.contains(id)) {
                    request.signalFailedWithKnownReason(new ProducerFencedException("fenced"));
                } else {
                    log.add(number + " commits " + id);
                    if (channel != null) {
                        channel.send(TransactionFinished.successful(id));
                    }
                }
            }
        }

        @Override
        public void close() {
            log.add(number + " closes");
            if (channel != null) {
                channel.close();
            }
        }
    }

    private static final class FakeRequest implements Committer.CommitRequest<KafkaCommittable> {
        private final KafkaCommittable committable;
        private boolean retried;
        private Throwable refusal;
        private int retries;
        private Throwable unknown;

        FakeRequest(KafkaCommittable committable) {
            this.committable = committable;
        }

        @Override
        public KafkaCommittable getCommittable() {
            return committable;
        }

        @Override
        public int getNumberOfRetries() {
            return retries;
        }

        @Override
        public void signalFailedWithKnownReason(Throwable t) {
            refusal = t;
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable t) {
            unknown = t;
        }

        @Override
        public void retryLater() {
            retried = true;
        }

        @Override
        public void updateAndRetryLater(KafkaCommittable changed) {
            throw new AssertionError("not used by the stock committer");
        }

        @Override
        public void signalAlreadyCommitted() {
            throw new AssertionError("not used by the stock committer");
        }
    }
}
