package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Layout;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.LeaseRequest;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RawSessionSocketTest {

    private static final SessionRequest REQUEST =
            SessionRequest.newBuilder().setLease(LeaseRequest.newBuilder().setPurpose("test")).build();

    @TempDir
    Path folder;

    @Test
    void namesThePathAndTheOptionWhenThereIsNoSocket() {
        DaemonException e = assertThrows(DaemonException.class, () -> connect(folder.resolve("session.sock")));
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        assertContains(e, folder.resolve("session.sock").toString(), "start penstockd", "penstock.socket-dir");
    }

    @Test
    void namesTheStaleSocketOfADeadDaemon() throws Exception {
        Path path = folder.resolve("session.sock");
        new SessionPeer(path, connection -> {}).close();
        DaemonException e = assertThrows(DaemonException.class, () -> connect(path));
        assertContains(e, "nobody listens at " + path, "start penstockd");
    }

    @Test
    void namesModeOwnerAndGroupWhenPermissionIsDenied() throws IOException {
        Path path = Files.createFile(folder.resolve("session.sock"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
        DaemonException e = SocketFault.ofConnect(path, new ConnectException("connect(..) failed: Permission denied"));
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        assertContains(e, path + " has mode rw-rw----", "owner ", "to group ", "socket_mode");
    }

    @Test
    void refusesAPathThatIsTooLongForASocket() {
        Path path = folder.resolve("x".repeat(120));
        assertContains(assertThrows(DaemonException.class, () -> connect(path)), "allow 107", "penstock.socket-dir");
    }

    @Test
    void namesTheFolderThatMayBeNoexec() {
        DaemonException e = SocketFault.ofMissingEpoll("Flink's shaded netty",
                "org.apache.flink.shaded.netty4.io.netty.native.workdir",
                new UnsatisfiedLinkError("failed to map segment"));
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        assertContains(e, "failed to map segment", "java.io.tmpdir = " + System.getProperty("java.io.tmpdir"), "noexec",
                "-Dorg.apache.flink.shaded.netty4.io.netty.native.workdir");
    }

    @Test
    void refusesAReplyThatIsTooLong() throws Exception {
        DaemonException e = exchangeWith(connection -> {
            connection.read();
            connection.write(new byte[] {'H', 'T', 'T', 'P'});
            connection.awaitEnd();
        });
        assertContains(e, "announced a reply of 1347703880 bytes", "penstock.socket-dir");
    }

    @Test
    void refusesAReplyThatIsNoProtobuf() throws Exception {
        DaemonException e = exchangeWith(connection -> {
            connection.read();
            connection.write(new byte[] {3, 0, 0, 0, -1, -1, -1});
            connection.awaitEnd();
        });
        assertContains(e, "sent 3 bytes that are no reply of protocol 1");
    }

    @Test
    void noticesTheEndInTheMiddleOfAReply() throws Exception {
        DaemonException e = exchangeWith(connection -> {
            connection.read();
            connection.write(new byte[] {100, 0, 0, 0, 1});
        });
        assertContains(e, "closed the connection");
    }

    @Test
    void readsTheRefusalOfADaemonThatHasClosedBeforeItWasAsked() throws Exception {
        SessionReply refusal = SessionReply.newBuilder()
                .setRefused(FakeDaemon.error(ErrorKind.FALL_BACK, "uid 7 is not in listen.allow_uids")).build();
        assertEquals(refusal, exchangeAfterTheEnd(connection -> connection.write(refusal)));
    }

    @Test
    void aDaemonThatHasClosedWithoutAWordIsNamed() {
        DaemonException e = assertThrows(DaemonException.class, () -> exchangeAfterTheEnd(connection -> {}));
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        assertContains(e, "probing: penstockd (pid ", "closed the connection");
        assertContains(e.getSuppressed()[0], "Broken pipe");
    }

    @Test
    void waitsForASilentDaemonNoLongerThanAllowed() throws Exception {
        DaemonException e = exchangeWith(SessionPeer.Connection::awaitEnd);
        assertEquals(ErrorKind.FALL_BACK, e.kind());
        assertContains(e, "probing: no answer from penstockd (pid " + ProcessHandle.current().pid(), "within 300 ms");
    }

    @Test
    void aDescriptorArrivesBehindItsFrameAndMapsTheSamePages() throws Exception {
        Path file = SegmentFile.data(folder, 5, 9, 1 << 16);
        try (SessionPeer peer = new SessionPeer(folder.resolve("session.sock"), connection -> {
                    connection.read();
                    connection.write(SessionReply.newBuilder().setCarriesFd(true).build());
                    connection.writeDescriptor(file);
                    connection.awaitEnd();
                });
                RawSessionSocket socket = connect(folder.resolve("session.sock"))) {
            Deadline deadline = Deadline.in(Duration.ofSeconds(30));
            assertTrue(socket.exchange(REQUEST, "probing", deadline).getCarriesFd());
            ByteBuffer segment = SegmentMapper.map(
                    socket.receiveDescriptor("probing", deadline), Layout.SEGMENT_KIND_DATA, 5, 9, 1 << 16);
            segment.putLong(5000, 0x0102030405060708L);
            assertEquals(8, Files.readAllBytes(file)[5000], "the file that the peer holds has the byte");
            assertEquals(0, peer.faults.size());
        }
    }

    @Test
    void refusesASegmentOfAnotherSizeOrAnotherArena() throws Exception {
        assertContains(assertThrows(DaemonException.class, () -> receive(5, 1 << 17)), "has 65536 bytes", "131072");
        assertContains(assertThrows(DaemonException.class, () -> receive(6, 1 << 16)), "arena id", "0x5", "0x6");
    }

    private void receive(long arenaId, long bytes) throws Exception {
        Path file = SegmentFile.data(folder, 5, 9, 1 << 16);
        try (SessionPeer peer = new SessionPeer(folder.resolve("session.sock"), connection -> {
                    connection.writeDescriptor(file);
                    connection.awaitEnd();
                });
                RawSessionSocket socket = connect(folder.resolve("session.sock"))) {
            SegmentMapper.map(socket.receiveDescriptor("probing", Deadline.in(Duration.ofSeconds(30))),
                    Layout.SEGMENT_KIND_DATA, arenaId, 9, bytes);
        }
    }

    private DaemonException exchangeWith(SessionPeer.Script script) throws Exception {
        Path path = folder.resolve("session.sock");
        try (SessionPeer peer = new SessionPeer(path, script); RawSessionSocket socket = connect(path)) {
            return assertThrows(DaemonException.class,
                    () -> socket.exchange(REQUEST, "probing", Deadline.in(Duration.ofMillis(300))));
        }
    }

    /** Sends only when the peer has done what the script says and has closed: the kernel then refuses every byte. */
    private SessionReply exchangeAfterTheEnd(SessionPeer.Script script) throws Exception {
        Path path = folder.resolve("session.sock");
        CountDownLatch closed = new CountDownLatch(1);
        try (SessionPeer peer = new SessionPeer(path, connection -> {
                    script.run(connection);
                    connection.close();
                    closed.countDown();
                });
                RawSessionSocket socket = connect(path)) {
            assertTrue(closed.await(30, TimeUnit.SECONDS), "the peer must close");
            return socket.exchange(REQUEST, "probing", Deadline.in(Duration.ofSeconds(30)));
        }
    }

    private static RawSessionSocket connect(Path path) throws DaemonException {
        return RawSessionSocket.connect(path, Deadline.in(Duration.ofSeconds(30)));
    }

    static void assertContains(Throwable fault, String... parts) {
        for (String part : parts) {
            assertTrue(fault.getMessage().contains(part), () -> "\"" + part + "\" is not in: " + fault.getMessage());
        }
    }
}
