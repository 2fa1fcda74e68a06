package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.EpochFlushed;
import dev.penstock.proto.v1.EpochSealed;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.LineAttached;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteRequest;
import dev.penstock.proto.v1.WriteRequest.RequestCase;
import dev.penstock.proto.v1.WriterFailed;
import io.grpc.stub.StreamObserver;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WriterLineTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(200);

    @TempDir
    Path folder;

    private final List<WriteRequest> asked = new CopyOnWriteArrayList<>();
    private FakeDaemon daemon;
    private DaemonSession session;
    private volatile StreamObserver<WriteEvent> events;
    private volatile boolean lineEnded;

    @BeforeEach
    void start() throws Exception {
        daemon = new FakeDaemon(folder);
        daemon.onRequest = (request, observer) -> {
            events = observer;
            WriterStreamTest.answer(request, observer);
        };
        daemon.line = this::answerAll;
        session = DaemonSession.acquire(daemon.settings());
    }

    @AfterEach
    void stop() throws Exception {
        session.release();
        daemon.close();
        assertEquals(List.of(), daemon.faults());
    }

    private void answerAll(SessionPeer.Connection connection) throws Exception {
        attach(connection);
        for (WriteRequest request = connection.readOfLine(); request != null; request = connection.readOfLine()) {
            asked.add(request);
            WriteEvent answer = WriterStreamTest.answerTo(request);
            if (answer != null) {
                connection.write(answer);
            }
        }
        lineEnded = true;
    }

    private static void attach(SessionPeer.Connection connection) throws Exception {
        connection.write(SessionReply.newBuilder().setAttached(LineAttached.getDefaultInstance()).build());
    }

    private WriterStream open() throws DaemonException {
        return session.openWriter(OpenWriter.newBuilder().setTopic("orders"), LIMIT);
    }

    @Test
    void aBarrierTakesTheLineAndEverythingElseTheStream() throws Exception {
        try (WriterStream stream = open()) {
            assertEquals(FakeDaemon.TOKEN, daemon.attaches.get(0).getToken());
            assertEquals(FakeDaemon.SESSION_ID, daemon.attaches.get(0).getSessionId());
            assertEquals(stream.writerId(), daemon.attaches.get(0).getWriterId());
            stream.begin(5, "id-1", List.of(), LIMIT);
            stream.submit(stream.nextExtent(1, LIMIT), 128, 9, 3, 0);
            stream.submitLast(stream.nextExtent(1, LIMIT), 64, 9, 2, 0);
            assertEquals(5, stream.flush(5, 5, LIMIT).getRows());
            assertEquals(42, stream.seal(5, 5, LIMIT).getProducerId());
            stream.begin(6, "id-2", List.of(), LIMIT);
            assertEquals(2, stream.batches());
        }
        assertEquals(List.of(RequestCase.SUBMIT, RequestCase.FLUSH, RequestCase.SEAL), kinds(asked));
        assertEquals(List.of(3L, 3L, 3L), asked.stream().map(WriteRequest::getAfter).toList(), "Open, Begin, Submit");
        assertEquals(2, asked.get(0).getSubmit().getSequence());
        assertEquals(List.of(RequestCase.OPEN, RequestCase.BEGIN, RequestCase.SUBMIT, RequestCase.BEGIN),
                kinds(daemon.requests));
    }

    private static List<RequestCase> kinds(List<WriteRequest> requests) {
        return requests.stream().map(WriteRequest::getRequestCase).toList();
    }

    @Test
    void withoutALineABarrierTakesTheStream() throws Exception {
        daemon.line = connection -> connection.write(SessionReply.newBuilder()
                .setRefused(FakeDaemon.error(ErrorKind.BAD_REQUEST, "no line today")).build());
        try (WriterStream stream = open()) {
            stream.begin(5, "id-1", List.of(), LIMIT);
            stream.submitLast(stream.nextExtent(1, LIMIT), 64, 9, 2, 0);
            assertEquals(42, stream.seal(5, 2, LIMIT).getProducerId());
        }
        assertEquals(1, daemon.attaches.size());
        assertEquals(List.of(RequestCase.OPEN, RequestCase.BEGIN, RequestCase.SUBMIT, RequestCase.SEAL),
                kinds(daemon.requests));
    }

    @Test
    void aFailureOnTheStreamWakesWhoeverWaitsOnTheLine() throws Exception {
        daemon.line = connection -> {
            attach(connection);
            connection.readOfLine();
            events.onNext(failed("producer fenced"));
            connection.awaitEnd();
        };
        try (WriterStream stream = open()) {
            stream.begin(5, "id-1", List.of(), LIMIT);
            long start = System.nanoTime();
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(5, 0, LIMIT));
            assertTrue(System.nanoTime() - start < LIMIT.toNanos() / 2, "woken, not timed out");
            assertEquals(ErrorKind.FENCED, e.kind());
            RawSessionSocketTest.assertContains(e, "producer fenced");
        }
    }

    private static WriteEvent failed(String message) {
        return WriteEvent.newBuilder()
                .setFailed(WriterFailed.newBuilder().setEpochId(5).setError(FakeDaemon.error(ErrorKind.FENCED, message)))
                .build();
    }

    @Test
    void noAnswerOnTheLineFailsInTimeAndSaysWhichStep() throws Exception {
        daemon.line = connection -> {
            attach(connection);
            connection.awaitEnd();
        };
        try (WriterStream stream = open()) {
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(8, 1000, SHORT));
            assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
            RawSessionSocketTest.assertContains(e, "seal of epoch 8 with 1000 rows", "within 200 ms", "penstockd (pid");
            assertThrows(DaemonException.class, stream::checkFailure);
        }
    }

    @Test
    void theEndOfTheLineFailsTheWriter() throws Exception {
        daemon.line = connection -> {
            attach(connection);
            connection.readOfLine();
        };
        try (WriterStream stream = open()) {
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(8, 0, LIMIT));
            assertEquals(ErrorKind.FAIL_EPOCH, e.kind());
            RawSessionSocketTest.assertContains(e, "lost penstockd (pid", "closed the line");
            assertThrows(DaemonException.class, stream::checkFailure);
        }
    }

    /** The daemon's own words come on the stream, maybe a moment after the line has ended. */
    @Test
    void theReasonOnTheStreamIsToldWhenTheLineEndsFirst() throws Exception {
        Thread task = Thread.currentThread();
        daemon.line = connection -> {
            attach(connection);
            connection.readOfLine();
            new Thread(() -> {
                // It sleeps in the selector, which is no such state, until the line has ended.
                WriterStreamTest.awaitParked(task);
                events.onNext(failed("penstockd is shutting down"));
            }).start();
        };
        try (WriterStream stream = open()) {
            stream.begin(5, "id-1", List.of(), LIMIT);
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(5, 0, LIMIT));
            RawSessionSocketTest.assertContains(e, "penstockd is shutting down");
        }
    }

    @Test
    void answersThatCannotBeTrueAreDefects() throws Exception {
        Map<WriteEvent, String> lies = Map.of(
                WriteEvent.newBuilder().setSealed(EpochSealed.newBuilder().setEpochId(1)).build(), "for epoch 1",
                WriteEvent.newBuilder().setFlushed(EpochFlushed.newBuilder().setEpochId(2)).build(),
                "FLUSHED while SEALED");
        for (Map.Entry<WriteEvent, String> lie : lies.entrySet()) {
            daemon.line = connection -> {
                attach(connection);
                connection.readOfLine();
                connection.write(lie.getKey());
                connection.awaitEnd();
            };
            try (WriterStream stream = open()) {
                DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(2, 0, LIMIT));
                assertEquals(ErrorKind.INTERNAL, e.kind());
                RawSessionSocketTest.assertContains(e, lie.getValue());
                assertThrows(DaemonException.class, stream::checkFailure);
            }
        }
    }

    @Test
    void aFrameThatIsTooLongIsNotReadOn() throws Exception {
        daemon.line = connection -> {
            attach(connection);
            connection.readOfLine();
            connection.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(WriterLine.LONGEST_FRAME_BYTES + 1).array());
            connection.awaitEnd();
        };
        try (WriterStream stream = open()) {
            RawSessionSocketTest.assertContains(
                    assertThrows(DaemonException.class, () -> stream.seal(2, 0, LIMIT)), "a frame of 16385 bytes");
        }
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        daemon.line = connection -> {
            attach(connection);
            connection.awaitEnd();
        };
        try (WriterStream stream = open()) {
            Thread.currentThread().interrupt();
            DaemonException e = assertThrows(DaemonException.class, () -> stream.seal(1, 0, LIMIT));
            assertTrue(Thread.interrupted(), "the flag stays set for Flink");
            assertEquals(ErrorKind.RETRY, e.kind());
        }
    }

    @Test
    void theLineEndsWithTheWriter() throws Exception {
        WriterStream stream = open();
        stream.begin(5, "id-1", List.of(), LIMIT);
        stream.close(LIMIT);
        SessionPeer.await("the daemon sees the end of the line", LIMIT, () -> lineEnded);
    }
}
