package dev.penstock.integration.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.arena.Layout;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.WriterWithoutBroker;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.Hello;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import dev.penstock.session.WriterStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client's session against the real daemon; no broker, so nothing here gets as far as Kafka. */
@Timeout(400)
class RealDaemonSessionTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofSeconds(5);
    private static final int SCHEMA_TAG = 4711;

    private DaemonProcess daemon;

    @BeforeEach
    void start() {
        daemon = DaemonProcess.start();
    }

    @AfterEach
    void stop() {
        daemon.close();
    }

    @Test
    void leasesWritesIsToldOfABadBatchAndLeavesNothing() throws Exception {
        DaemonSession session = DaemonSession.acquire(settings(LIMIT));
        assertEquals(1, daemon.status().sessions());
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("job"), LIMIT)) {
            assertEquals(1, daemon.status().writers());
            stream.begin(1, "", List.of(), LIMIT);
            Extent extent = stream.nextExtent(1, LIMIT);
            assertTrue(daemon.status().memory("leased_bytes") > extent.capacity());
            extent.segment().putInt(extent.offset() + Layout.BATCH_OFF_MAGIC, 0xdead);
            stream.submit(extent, 128, SCHEMA_TAG, 1, 0);
            DaemonException e = awaitFailure(stream);
            assertEquals(ErrorKind.BAD_REQUEST, e.kind(), e.getMessage());
            assertTrue(e.getMessage().contains("magic"), e.getMessage());
        }
        session.release();
        daemon.awaitNothingLeft(LIMIT);
    }

    /** After ten seconds. The daemon keeps it populated for the next lease, up to its warm mark. */
    @Test
    void anIdleSegmentIsUnmappedAndReturned() throws Exception {
        long self = ProcessHandle.current().pid();
        DaemonSession session = DaemonSession.acquire(settings(LIMIT));
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("job"), LIMIT)) {
            stream.giveBack(stream.nextExtent(1, LIMIT));
            assertEquals(2, ProcessSample.of(self).mappings(), "the handle table and one segment");
            Deadline.in(LIMIT).await("the segment to go back", () -> daemon.status().memory("leased_bytes") == 0);
            assertEquals(1, ProcessSample.of(self).mappings());
            assertTrue(daemon.status().memory("warm_bytes") > 0);
            stream.giveBack(stream.nextExtent(1, LIMIT));
            assertEquals(2, ProcessSample.of(self).mappings());
        }
        session.release();
        daemon.awaitNothingLeft(LIMIT);
    }

    @Test
    void aBatchOutsideAnyEpochIsRefused() throws Exception {
        DaemonSession session = DaemonSession.acquire(settings(LIMIT));
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("job"), LIMIT)) {
            stream.submit(stream.nextExtent(1, LIMIT), 128, SCHEMA_TAG, 1, 0);
            DaemonException e = awaitFailure(stream);
            assertEquals(ErrorKind.BAD_REQUEST, e.kind(), e.getMessage());
            assertTrue(e.getMessage().contains("BeginEpoch"), e.getMessage());
        } finally {
            session.release();
        }
        daemon.awaitNothingLeft(LIMIT);
    }

    @Test
    void anotherLayoutIsRefusedBeforeAnyDescriptorIsSent() throws Exception {
        SessionReply reply = hello(Hello.newBuilder()
                .setProtocolMin(1).setProtocolMax(1).setLayoutHash(Layout.hash() + 1).setBudgetBytes(1 << 26).build());
        assertTrue(reply.hasRefused(), reply.toString());
        assertTrue(reply.getRefused().getMessage().contains("layout"), reply.getRefused().getMessage());
        assertEquals(0, daemon.status().sessions());
        assertEquals(1, daemon.status().counter("sessions_refused"));
    }

    @Test
    void anotherProtocolIsRefusedInBothSidesNumbers() throws Exception {
        SessionReply reply = hello(Hello.newBuilder()
                .setProtocolMin(2).setProtocolMax(3).setLayoutHash(Layout.hash()).setBudgetBytes(1 << 26).build());
        assertEquals(ErrorKind.FALL_BACK, reply.getRefused().getKind(), reply.toString());
        String message = reply.getRefused().getMessage();
        assertTrue(message.contains("the client speaks versions 2 to 3 and penstockd 1 to 1"), message);
        assertTrue(message.contains("install the jar and the daemon of one release"), message);
        assertEquals(0, daemon.status().sessions());
        assertEquals(1, daemon.status().counter("sessions_refused"));
    }

    @Test
    void aBudgetOfZeroIsRefusedInTheDaemonsWords() {
        SessionSettings settings = new SessionSettings(daemon.directory(), 0, "test", "2.2.1", "2.18.2", LIMIT);
        DaemonException e = assertThrows(DaemonException.class, () -> DaemonSession.acquire(settings));
        assertTrue(e.getMessage().contains("hello refused by penstockd (pid " + daemon.process().pid()),
                e.getMessage());
        assertTrue(e.getMessage().contains("taskmanager.memory.task.off-heap.size"), e.getMessage());
    }

    @Test
    void aStoppedDaemonGivesBoundedErrors() throws Exception {
        DaemonSession session = DaemonSession.acquire(settings(SHORT));
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("job"), LIMIT)) {
            stream.begin(1, "", List.of(), LIMIT);
            daemon.process().pause();
            long start = System.nanoTime();
            DaemonException lease = assertThrows(DaemonException.class, () -> stream.nextExtent(1, LIMIT));
            assertEquals(ErrorKind.FAIL_EPOCH, lease.kind(), lease.getMessage());
            assertTrue(lease.getMessage().contains("pid " + daemon.process().pid()), lease.getMessage());
            assertThrows(DaemonException.class, () -> stream.flush(1, 0, SHORT));
            stream.close(SHORT);
            DaemonException hello = assertThrows(DaemonException.class, () -> DaemonSession.acquire(settings(SHORT)));
            assertEquals(ErrorKind.FALL_BACK, hello.kind(), hello.getMessage());
            assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "all of it within the limit");
        } finally {
            daemon.process().resume();
            session.release();
        }
        daemon.awaitNothingLeft(LIMIT);
    }

    @Test
    void aKilledDaemonIsNoticedAndItsSuccessorServes() throws Exception {
        DaemonSession session = DaemonSession.acquire(settings(LIMIT));
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("job"), LIMIT)) {
            daemon.process().kill();
            Deadline.in(LIMIT).await("the session to break", () -> !session.isAlive());
            assertEquals(ErrorKind.FAIL_EPOCH, assertThrows(DaemonException.class, stream::checkFailure).kind());
        }
        daemon.restart();
        DaemonSession next = DaemonSession.acquire(settings(LIMIT));
        assertEquals(1, daemon.status().sessions());
        next.release();
        session.release();
        daemon.awaitNothingLeft(LIMIT);
    }

    private static DaemonException awaitFailure(WriterStream stream) {
        DaemonException[] failure = new DaemonException[1];
        Deadline.in(LIMIT).await("the writer to fail", () -> {
            try {
                stream.checkFailure();
                return false;
            } catch (DaemonException e) {
                failure[0] = e;
                return true;
            }
        });
        return failure[0];
    }

    /** One Hello by hand; a refusal carries no descriptor, so the JDK's own socket will do. */
    private SessionReply hello(Hello hello) throws IOException {
        byte[] body = SessionRequest.newBuilder().setHello(hello).build().toByteArray();
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(daemon.directory().resolve(SessionSettings.SESSION_SOCKET)));
            channel.write(ByteBuffer.allocate(4 + body.length).order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(body.length).put(body).flip());
            ByteBuffer reply = read(channel, read(channel, 4).getInt(0));
            return SessionReply.parseFrom(reply);
        }
    }

    private static ByteBuffer read(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            assertTrue(channel.read(buffer) >= 0, "the daemon closed without an answer");
        }
        return buffer.flip();
    }

    private SessionSettings settings(Duration connectTimeout) {
        return new SessionSettings(daemon.directory(), 64 << 20, "test", "2.2.1", "2.18.2", connectTimeout);
    }
}
