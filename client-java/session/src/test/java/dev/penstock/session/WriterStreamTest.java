package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.EpochAborted;
import dev.penstock.proto.v1.EpochBegun;
import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.SubmitBatch;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteRequest;
import dev.penstock.proto.v1.WriterFailed;
import dev.penstock.proto.v1.WriterProgress;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WriterStreamTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private FakeDaemon daemon;
    private DaemonSession session;

    @BeforeEach
    void start() throws Exception {
        daemon = new FakeDaemon(folder);
        daemon.onRequest = WriterStreamTest::answer;
        session = DaemonSession.acquire(daemon.settings());
    }

    @AfterEach
    void stop() throws Exception {
        session.release();
        daemon.close();
        assertEquals(List.of(), daemon.faults());
    }

    /** A daemon without faults that keeps every batch. */
    static void answer(WriteRequest request, StreamObserver<WriteEvent> events) {
        WriteEvent event = answerTo(request);
        if (event != null) {
            events.onNext(event);
        }
    }

    /** What such a daemon answers, or null. */
    static WriteEvent answerTo(WriteRequest request) {
        WriteEvent.Builder event = WriteEvent.newBuilder();
        switch (request.getRequestCase()) {
            case BEGIN -> event.setBegun(EpochBegun.newBuilder()
                    .setEpochId(request.getBegin().getEpochId())
                    .setTransactionalId(request.getBegin().getTransactionalId()));
            case FLUSH -> event.setFlushed(EpochFlushed.newBuilder()
                    .setEpochId(request.getFlush().getEpochId()).setRows(request.getFlush().getRows()));
            case SEAL -> event.setSealed(EpochSealed.newBuilder()
                    .setEpochId(request.getSeal().getEpochId()).setRows(request.getSeal().getRows()).setProducerId(42));
            case ABORT -> event.setAborted(EpochAborted.newBuilder().setEpochId(request.getAbort().getEpochId()));
            default -> {
                return null;
            }
        }
        return event.build();
    }

    @Test
    void oneEpochFromBeginToSeal() throws Exception {
        try (WriterStream stream = open()) {
            stream.warm("id-2");
            assertEquals("id-1", stream.begin(5, "id-1", List.of("id-0"), LIMIT).getTransactionalId());
            Extent extent = stream.nextExtent(100, LIMIT);
            assertTrue(extent.capacity() >= 100);
            stream.submit(extent, 128, 9, 3, 0);
            assertEquals(3, stream.flush(5, 3, LIMIT).getRows());
            assertEquals(42, stream.seal(5, 3, LIMIT).getProducerId());
            stream.abort(6, LIMIT);
            assertEquals(1, stream.batches());
        }
        WriteRequest opened = daemon.requests.get(0);
        assertEquals(FakeDaemon.TOKEN, opened.getOpen().getToken());
        assertEquals(FakeDaemon.SESSION_ID, opened.getOpen().getSessionId());
        assertEquals(List.of("id-0"), daemon.requests.get(2).getBegin().getGapTransactionalIdsList());
        SubmitBatch submit = submits().get(0);
        assertEquals(1, submit.getSequence());
        assertEquals(5, submit.getEpochId());
        assertEquals(1, daemon.count(Layout.STATE_PARKED));
        daemon.settle(submit.getSlot());
    }

    @Test
    void waitsForCreditAndGoesOnWhenASlotBecomesFree() throws Exception {
        try (WriterStream stream = open()) {
            useUpCredit(stream);
            SessionPeer.await("all submits have arrived", LIMIT, () -> submits().size() == 4);
            Thread task = Thread.currentThread();
            CompletableFuture<Void> settled = CompletableFuture.runAsync(() -> {
                awaitParked(task);
                daemon.settle(submits().get(0).getSlot());
            });
            Extent next = stream.nextExtent(MIB, LIMIT);
            settled.get();
            assertNotNull(next);
            assertTrue(stream.waitNanos() > 0);
            assertEquals(1, daemon.leases.get(), "the freed extent is used again");
            assertEquals(List.of(1L, 2L, 3L, 4L), submits().stream().map(SubmitBatch::getSequence).toList());
            stream.giveBack(next);
        }
    }

    @Test
    void noCreditInTimeFailsTheWriter() throws Exception {
        try (WriterStream stream = open()) {
            useUpCredit(stream);
            DaemonException e = assertThrows(DaemonException.class, () -> stream.nextExtent(MIB, SHORT));
            assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
            RawSessionSocketTest.assertContains(e, "within 200 ms", "4 batches parked",
                    "4194304 of 4194304 bytes of credit",
                    "penstockd (pid", "session.sock");
            assertTrue(stream.waitNanos() >= SHORT.toNanos());
            assertEquals(e.getMessage(), assertThrows(DaemonException.class, stream::checkFailure).getMessage());
        }
    }

    /** Before the first progress the whole credit counts, after it what the daemon says; a larger row goes alone. */
    @Test
    void theCreditOfTheMomentMakesBatchesSmall() throws Exception {
        daemon.onRequest = (request, events) -> {
            events.onNext(WriteEvent.newBuilder()
                    .setProgress(WriterProgress.newBuilder().setCreditBytes(MIB / 4)).build());
            answer(request, events);
        };
        try (WriterStream stream = open()) {
            Extent before = stream.nextExtent(0, LIMIT);
            assertEquals(MIB, before.capacity());
            stream.giveBack(before);
            stream.begin(1, "", List.of(), LIMIT);
            Extent small = stream.nextExtent(0, LIMIT);
            assertEquals(MIB / 8, small.capacity());
            stream.submit(small, MIB / 8, 9, 1, 0);
            stream.submit(stream.nextExtent(0, LIMIT), MIB / 8, 9, 1, 0);
            SessionPeer.await("both submits have arrived", LIMIT, () -> submits().size() == 2);
            Thread task = Thread.currentThread();
            CompletableFuture<Void> settled = CompletableFuture.runAsync(() -> {
                awaitParked(task);
                submits().forEach(s -> daemon.settle(s.getSlot()));
            });
            Extent alone = stream.nextExtent(2 * MIB, LIMIT);
            settled.get();
            assertEquals(2 * MIB, alone.capacity());
            stream.giveBack(alone);
        }
    }

    /** Four batches of one MiB, which is what the daemon allows. */
    private static void useUpCredit(WriterStream stream) throws DaemonException {
        stream.begin(1, "", List.of(), LIMIT);
        for (int i = 0; i < 4; i++) {
            stream.submit(stream.nextExtent(MIB, LIMIT), MIB, 9, 1, 0);
        }
    }

    static void awaitParked(Thread task) {
        try {
            SessionPeer.await("the task waits", LIMIT, () -> task.getState() == Thread.State.TIMED_WAITING);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void memoryThatIsDeniedUntilTheDeadlineIsALimitInTheDaemonsWords() throws Exception {
        daemon.mostLeases = 0;
        try (WriterStream stream = open()) {
            long start = System.nanoTime();
            NativeMemoryLimitException e = assertThrows(
                    NativeMemoryLimitException.class, () -> stream.nextExtent(1, Duration.ofSeconds(5)));
            assertTrue(System.nanoTime() - start >= Duration.ofSeconds(5).toNanos(), "waited until the deadline");
            assertEquals(ErrorKind.DENIED, e.kind());
            RawSessionSocketTest.assertContains(e, "lease of a data segment refused",
                    "arena.capacity 512MiB is leased out", "nothing was given back within 5000 ms");
            assertTrue(stream.denials() > 1 && stream.denials() < 40, () -> "asked " + stream.denials() + " times");
            stream.checkFailure();
        }
    }

    @Test
    void memoryThatAnotherProcessGivesBackIsLeasedAfterADenial() throws Exception {
        daemon.mostLeases = 0;
        try (WriterStream stream = open()) {
            CompletableFuture<Void> freed = CompletableFuture.runAsync(() -> {
                try {
                    SessionPeer.await("a denial", LIMIT, () -> stream.denials() > 0);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                daemon.mostLeases = 1;
            });
            stream.giveBack(stream.nextExtent(MIB, LIMIT));
            freed.get();
            assertEquals(1, daemon.leases.get());
            assertTrue(stream.denials() > 0);
        }
    }

    @Test
    void aDeniedLeaseWaitsForBatchesInFlight() throws Exception {
        daemon.mostLeases = 1;
        daemon.creditBytes = 64L << 20;
        try (WriterStream stream = open()) {
            stream.begin(1, "", List.of(), LIMIT);
            for (int i = 0; i < 4; i++) {
                stream.submit(stream.nextExtent(MIB, LIMIT), 64, 9, 1, 0);
            }
            // Long enough for the daemon's refusal to come; the wait for the batches in flight then ends by time.
            RawSessionSocketTest.assertContains(assertThrows(NativeMemoryLimitException.class,
                    () -> stream.nextExtent(MIB, Duration.ofSeconds(8))), "4 batches parked");
            SessionPeer.await("all submits have arrived", LIMIT, () -> submits().size() == 4);
            Thread settler = new Thread(() -> daemon.settle(submits().get(2).getSlot()));
            settler.start();
            stream.giveBack(stream.nextExtent(MIB, LIMIT));
            settler.join();
        }
    }

    @Test
    void aBeginIsAwaitedLaterAndBeforeAnyOtherAnswer() throws Exception {
        AtomicReference<Runnable> late = new AtomicReference<>();
        daemon.onRequest = (request, events) -> {
            if (request.hasBegin()) {
                late.set(() -> answer(request, events));
            } else {
                answer(request, events);
            }
        };
        try (WriterStream stream = open()) {
            stream.startBegin(5, "id-1", List.of(), LIMIT);
            stream.warm("id-2");
            Extent extent = stream.nextExtent(100, LIMIT);
            stream.submit(extent, 128, 9, 3, 0);
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> stream.seal(5, 3, LIMIT));
            RawSessionSocketTest.assertContains(e, "begin of epoch 5 as id-1");
            SessionPeer.await("the begin arrives", LIMIT, () -> late.get() != null);
            late.get().run();
            assertEquals("id-1", stream.awaitBegun().getTransactionalId());
            assertThrows(IllegalStateException.class, stream::awaitBegun);
            assertEquals(42, stream.seal(5, 3, LIMIT).getProducerId());
        }
        assertEquals(5, submits().get(0).getEpochId());
    }

    @Test
    void aBeginWithoutAnAnswerFailsAtItsOwnTimeout() throws Exception {
        daemon.onRequest = (request, events) -> {};
        try (WriterStream stream = open()) {
            stream.startBegin(5, "id-1", List.of(), Duration.ofMillis(50));
            DaemonException e = assertThrows(DaemonException.class, stream::awaitBegun);
            RawSessionSocketTest.assertContains(e, "begin of epoch 5 as id-1: no answer", "within 50 ms");
        }
    }

    @Test
    void aDenialThatTheDaemonReportsOnTheStreamIsALimitToo() throws Exception {
        daemon.onRequest = (request, events) -> events.onNext(WriteEvent.newBuilder()
                .setFailed(WriterFailed.newBuilder().setEpochId(3).setError(
                        FakeDaemon.error(ErrorKind.DENIED, "memory denied: the queue of a producer")))
                .build());
        try (WriterStream stream = open()) {
            assertThrows(NativeMemoryLimitException.class, () -> stream.begin(3, "id", List.of(), LIMIT));
            NativeMemoryLimitException again =
                    assertThrows(NativeMemoryLimitException.class, stream::checkFailure);
            RawSessionSocketTest.assertContains(again, "the queue of a producer");
        }
    }

    @Test
    void aFailureEventFailsEveryFurtherCallAndTellsOnce() throws Exception {
        daemon.onRequest = (request, events) -> events.onNext(WriteEvent.newBuilder()
                .setFailed(WriterFailed.newBuilder()
                        .setEpochId(3)
                        .setError(FakeDaemon.error(ErrorKind.FENCED, "producer fenced by a newer attempt")))
                .build());
        AtomicInteger told = new AtomicInteger();
        try (WriterStream stream = open()) {
            stream.onFailure(told::incrementAndGet);
            long start = System.nanoTime();
            DaemonException e = assertThrows(DaemonException.class, () -> stream.begin(3, "id", List.of(), LIMIT));
            assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "the failure wakes the waiting task");
            assertEquals(ErrorKind.FENCED, e.kind());
            RawSessionSocketTest.assertContains(e, "writer failed in epoch 3", "producer fenced by a newer attempt");
            assertEquals(ErrorKind.FENCED, assertThrows(DaemonException.class, stream::checkFailure).kind());
            assertThrows(DaemonException.class, () -> stream.nextExtent(1, LIMIT));
            assertThrows(DaemonException.class, () -> stream.seal(3, 0, LIMIT));
            SessionPeer.await("the listener is told", LIMIT, () -> told.get() == 1);
            stream.onFailure(told::incrementAndGet);
            assertEquals(2, told.get(), "a listener that comes late is told at once");
        }
    }

    @Test
    void aSealWithoutAnswerFailsInTimeAndSaysWhichStep() throws Exception {
        daemon.onRequest = (request, events) -> {};
        try (WriterStream stream = open()) {
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(8, 1000, SHORT));
            assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
            RawSessionSocketTest.assertContains(e, "seal of epoch 8 with 1000 rows", "within 200 ms", "penstockd (pid",
                    "session.sock", "penstockd status");
            assertThrows(DaemonException.class, stream::checkFailure);
        }
    }

    @Test
    void anOpenWithoutAnswerLetsTheStockSinkDoIt() throws Exception {
        // The channel connects with the first stream; the short limit below must not be spent on that.
        open().close(LIMIT);
        daemon.creditBytes = 0;
        DaemonException e = assertThrows(
                DaemonException.class, () -> session.openWriter(OpenWriter.newBuilder().setTopic("orders"), SHORT));
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        RawSessionSocketTest.assertContains(e, "opening the writer for topic orders", "within 200 ms");
        SessionPeer.await("the daemon sees the end of the stream", LIMIT, () -> daemon.streamsEnded.get() == 2);
    }

    @Test
    void anAnswerForAnotherEpochIsADefect() throws Exception {
        daemon.onRequest = (request, events) -> events.onNext(WriteEvent.newBuilder()
                .setSealed(EpochSealed.newBuilder().setEpochId(1)).build());
        try (WriterStream stream = open()) {
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(2, 0, LIMIT));
            assertEquals(ErrorKind.INTERNAL, e.kind());
            assertThrows(DaemonException.class, stream::checkFailure);
        }
    }

    @Test
    void interruptingTheTaskEndsItsWaitAndHarmsNobodyElse() throws Exception {
        daemon.onRequest = (request, events) -> {};
        try (WriterStream stream = open(); WriterStream other = open()) {
            Thread.currentThread().interrupt();
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(1, 0, LIMIT));
            assertTrue(Thread.interrupted(), "the flag stays set for Flink");
            assertEquals(ErrorKind.RETRY, e.kind());
            assertNotNull(other.nextExtent(1, LIMIT));
        }
    }

    @Test
    void closeAbandonsWhatWasNotSubmittedAndTakesItBackLater() throws Exception {
        WriterStream stream = open();
        Extent extent = stream.nextExtent(1, LIMIT);
        assertEquals(1, daemon.count(Layout.STATE_RESERVED));
        stream.close(LIMIT);
        stream.close(LIMIT);
        assertEquals(0, daemon.count(Layout.STATE_RESERVED));
        assertEquals(1, session.pool().lent(), "somebody may still write into it");
        stream.giveBack(extent);
        stream.giveBack(extent);
        assertEquals(0, session.pool().lent());
        assertEquals(1, daemon.streamsEnded.get());
        assertThrows(IllegalStateException.class, () -> stream.nextExtent(1, LIMIT));
    }

    @Test
    void extentsOfParkedBatchesOutliveTheirWriter() throws Exception {
        WriterStream stream = open();
        stream.submit(stream.nextExtent(1, LIMIT), 64, 9, 1, 0);
        stream.close(LIMIT);
        assertEquals(1, session.pool().lent());
        SessionPeer.await("the submit has arrived", LIMIT, () -> submits().size() == 1);
        daemon.settle(submits().get(0).getSlot());
        SessionPeer.await("the keeper collects", LIMIT, () -> session.pool().lent() == 0);
    }

    @Test
    void progressIsTheLatestThatCame() throws Exception {
        daemon.onRequest = (request, events) -> {
            events.onNext(WriteEvent.newBuilder()
                    .setProgress(WriterProgress.newBuilder().setRowsEncoded(77).setAccount(
                            AccountReport.newBuilder().setReservedBytes(78))).build());
            answer(request, events);
        };
        try (WriterStream stream = open()) {
            assertSame(WriterProgress.getDefaultInstance(), stream.progress());
            assertEquals(64 << 20, session.account().getCapacityBytes(), "known before the first report");
            stream.flush(1, 0, LIMIT);
            assertEquals(77, stream.progress().getRowsEncoded());
            assertEquals(78, session.account().getReservedBytes());
        }
    }

    @Test
    void parkedBytesAreThoseThatTheDaemonHasNotTaken() throws Exception {
        try (WriterStream stream = open()) {
            stream.submit(stream.nextExtent(1, LIMIT), 640, 9, 1, 0);
            SessionPeer.await("the keeper has looked", LIMIT, () -> session.parkedBytes() == 640);
            assertEquals(0, session.pinnedBytes());
            SessionPeer.await("the submit has arrived", LIMIT, () -> submits().size() == 1);
            daemon.claim(submits().get(0).getSlot());
            SessionPeer.await("the keeper has looked", LIMIT, () -> session.pinnedBytes() == 640);
            assertEquals(0, session.parkedBytes());
        }
    }

    @Test
    void arrowBytesAreThoseOfExtentsInUse() throws Exception {
        try (WriterStream stream = open()) {
            assertEquals(0, session.arrowBytes());
            Extent extent = stream.nextExtent(1, LIMIT);
            assertEquals(extent.capacity(), session.arrowBytes());
            stream.giveBack(extent);
            assertEquals(0, session.arrowBytes());
        }
    }

    private WriterStream open() throws DaemonException {
        return session.openWriter(OpenWriter.newBuilder().setTopic("t"), LIMIT);
    }

    private List<SubmitBatch> submits() {
        return daemon.requests.stream().filter(WriteRequest::hasSubmit).map(WriteRequest::getSubmit).toList();
    }
}
