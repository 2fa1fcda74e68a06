package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.Hello;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.SessionReply;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DaemonSessionTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    @Test
    void helloSaysWhoTheClientIs() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession session = DaemonSession.acquire(daemon.settings());
            try {
                Hello hello = daemon.hellos.get(0);
                assertEquals(Layout.hash(), hello.getLayoutHash());
                assertEquals("2.2.1", hello.getFlinkVersion());
                assertEquals("2.18.2", hello.getJacksonVersion());
                assertEquals(64 << 20, hello.getBudgetBytes());
                assertEquals("tm-1", hello.getClientName());
                assertEquals(Runtime.version().feature(), hello.getJvmFeatureVersion());
                assertEquals(ProcessHandle.current().pid(), hello.getPid());
                assertEquals(FloatProbe.spellings(), hello.getFloatProbeList());
                assertEquals(16, hello.getProcessId().size());
                assertEquals(ClientIdentity.processId(), hello.getProcessId());
                assertTrue(Character.isDigit(hello.getClientVersion().charAt(0)), hello.getClientVersion());
                assertEquals(FakeDaemon.SESSION_ID, session.sessionId());
                assertEquals(4 << 20, session.maxBatchBytes());
            } finally {
                session.release();
            }
            assertEquals(List.of(), daemon.faults());
        }
    }

    @Test
    void oneSessionForAllAndANewOneAfterTheLastRelease() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession first = DaemonSession.acquire(daemon.settings());
            DaemonSession second = DaemonSession.acquire(daemon.settings());
            assertSame(first, second);
            first.release();
            assertTrue(second.isAlive());
            second.release();
            assertFalse(second.isAlive());
            DaemonSession third = DaemonSession.acquire(daemon.settings());
            assertNotSame(first, third);
            third.release();
            assertEquals(2, daemon.hellos.size());
        }
    }

    @Test
    void theEndOfTheDaemonFailsItsWritersAndTheNextAcquireOpensAnew() throws Exception {
        DaemonSession session;
        WriterStream stream;
        AtomicBoolean told = new AtomicBoolean();
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            session = DaemonSession.acquire(daemon.settings());
            stream = session.openWriter(OpenWriter.newBuilder().setTopic("t"), LIMIT);
            stream.onFailure(() -> told.set(true));
        }
        SessionPeer.await("the session notices", LIMIT, () -> !session.isAlive());
        DaemonException e = assertThrows(DaemonException.class, stream::checkFailure);
        assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
        SessionPeer.await("the listener is told", LIMIT, told::get);
        stream.close(LIMIT);
        assertThrows(DaemonException.class, () -> session.openWriter(OpenWriter.newBuilder(), LIMIT));
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession next = DaemonSession.acquire(daemon.settings());
            assertNotSame(session, next);
            next.release();
        }
        session.release();
    }

    @Test
    void onlyTheLifeLineBreaksAndTheMessageSaysSo() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            daemon.hangUp = true;
            DaemonSession session = DaemonSession.acquire(daemon.settings());
            SessionPeer.await("the session notices", LIMIT, () -> !session.isAlive());
            DaemonException e = assertThrows(
                    DaemonException.class, () -> session.openWriter(OpenWriter.newBuilder(), LIMIT));
            RawSessionSocketTest.assertContains(e, "lost penstockd (pid", "it closed the session");
            session.release();
        }
    }

    @Test
    void aRefusalKeepsTheDaemonsKindAndWords() throws Exception {
        SessionSettings settings = settings(Duration.ofSeconds(5));
        try (SessionPeer peer = new SessionPeer(settings.sessionSocket(), connection -> {
            connection.read();
            connection.write(SessionReply.newBuilder()
                    .setRefused(FakeDaemon.error(ErrorKind.BAD_REQUEST, "layout hash 0x1, this daemon has 0x2"))
                    .build());
        })) {
            DaemonException e = assertThrows(DaemonException.class, () -> DaemonSession.acquire(settings));
            assertEquals(ErrorKind.BAD_REQUEST, e.kind());
            RawSessionSocketTest.assertContains(e, "hello refused by penstockd (pid",
                    "layout hash 0x1, this daemon has 0x2");
            assertEquals(List.of(), peer.faults);
        }
    }

    /** Hello and the refusal may cross in any order; the user reads the same. */
    @Test
    void aRefusalAtAcceptIsReadHoweverHelloFares() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            daemon.refusalAtAccept = FakeDaemon.error(ErrorKind.FALL_BACK, "uid 7 is not in listen.allow_uids");
            for (int i = 0; i < 50; i++) {
                DaemonException e =
                        assertThrows(DaemonException.class, () -> DaemonSession.acquire(daemon.settings()));
                RawSessionSocketTest.assertContains(e, "hello refused by penstockd (pid",
                        "uid 7 is not in listen.allow_uids");
            }
            assertEquals(List.of(), daemon.faults());
        }
    }

    @Test
    void allSubtasksWaitTogetherForAStoppedDaemon() throws Exception {
        SessionSettings settings = settings(Duration.ofMillis(600));
        try (SessionPeer peer = new SessionPeer(settings.sessionSocket(), SessionPeer.Connection::awaitEnd)) {
            long start = System.nanoTime();
            List<CompletableFuture<DaemonSession>> waiting = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                CompletableFuture<DaemonSession> outcome = new CompletableFuture<>();
                waiting.add(outcome);
                Thread subtask = new Thread(() -> {
                    try {
                        outcome.complete(DaemonSession.acquire(settings));
                    } catch (DaemonException e) {
                        outcome.completeExceptionally(e);
                    }
                });
                subtask.start();
            }
            for (CompletableFuture<DaemonSession> outcome : waiting) {
                Throwable cause = assertThrows(ExecutionException.class, outcome::get).getCause();
                assertEquals(ErrorKind.FALL_BACK, ((DaemonException) cause).kind());
                RawSessionSocketTest.assertContains(cause, "within 600 ms", settings.sessionSocket().toString());
            }
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertTrue(millis < 6 * 600, () -> "waited " + millis + " ms, one after the other");
            assertEquals(List.of(), peer.faults);
        }
    }

    @Test
    void releaseUnmapsEverything() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession session = DaemonSession.acquire(daemon.settings());
            WriterStream stream = session.openWriter(OpenWriter.newBuilder().setTopic("t"), LIMIT);
            stream.giveBack(stream.nextExtent(1, LIMIT));
            // The fake keeps its own mapping of the table, so only the data segment shows what the client does.
            assertTrue(isMapped("segment-10"));
            session.release();
            assertTrue(session.isAlive(), "the stream still needs it");
            stream.close(LIMIT);
            awaitEndOfKeeper();
            assertFalse(isMapped("segment-10"), "unmapped by the keeper, not some day by the collector");
        }
    }

    /** A daemon that dies while a batch is being filled is noticed when the batch is handed over. */
    @Test
    void anExtentWhoseSubmitFailsIsNobodysAnyMore() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession session = DaemonSession.acquire(daemon.settings());
            WriterStream stream = session.openWriter(OpenWriter.newBuilder().setTopic("t"), LIMIT);
            Extent extent = stream.nextExtent(1, LIMIT);
            long before = DaemonSession.leakedSegments();
            stream.fail(new DaemonException(ErrorKind.FAIL_EPOCH, "the daemon died"));
            assertThrows(DaemonException.class, () -> stream.submit(extent, 64, 9, 1, 0));
            stream.close(LIMIT);
            session.release();
            awaitEndOfKeeper();
            assertEquals(before, DaemonSession.leakedSegments());
            assertFalse(isMapped("segment-10"));
        }
    }

    /** An access to unmapped memory would end this JVM. */
    @Test
    void memoryUnderALiveExtentStaysMappedAndIsCounted() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            DaemonSession session = DaemonSession.acquire(daemon.settings());
            WriterStream stream = session.openWriter(OpenWriter.newBuilder().setTopic("t"), LIMIT);
            Extent live = stream.nextExtent(1, LIMIT);
            long before = DaemonSession.leakedSegments();
            stream.close(LIMIT);
            session.release();
            awaitEndOfKeeper();
            assertEquals(before + 1, DaemonSession.leakedSegments());
            assertTrue(isMapped("segment-10"));
            live.segment().putLong(live.offset(), 42);
            assertEquals(42, live.segment().getLong(live.offset()));
            stream.giveBack(live);
            live = null;
            stream = null;
            session = null;
            SessionPeer.await("the collector unmaps it", LIMIT, () -> {
                System.gc();
                return !isMapped("segment-10");
            });
        }
    }

    @Test
    void aBudgetBelowOneSegmentIsRefusedAtTheStart() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(folder)) {
            SessionSettings poor = new SessionSettings(
                    folder, FakeDaemon.SEGMENT_BYTES - 1, "tm-1", "2.2.1", "2.18.2", LIMIT);
            NativeMemoryLimitException e =
                    assertThrows(NativeMemoryLimitException.class, () -> DaemonSession.acquire(poor));
            assertEquals(ErrorKind.DENIED, e.kind());
            RawSessionSocketTest.assertContains(e, "is " + (FakeDaemon.SEGMENT_BYTES - 1) + " bytes",
                    "taskmanager.memory.task.off-heap.size", "at least " + FakeDaemon.SEGMENT_BYTES, "arena.segment");
        }
    }

    private static void awaitEndOfKeeper() throws Exception {
        SessionPeer.await("the keeper ends", LIMIT, () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("penstock-session-" + FakeDaemon.SESSION_ID)));
    }

    private boolean isMapped(String file) throws Exception {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.anyMatch(line -> line.endsWith(folder.resolve(file).toString()));
        }
    }

    private SessionSettings settings(Duration connectTimeout) {
        return new SessionSettings(folder, 64 << 20, "tm-1", "2.2.1", "2.18.2", connectTimeout);
    }
}
