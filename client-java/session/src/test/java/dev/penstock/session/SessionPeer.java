package dev.penstock.session;

import com.google.protobuf.MessageLite;
import dev.penstock.proto.v1.SessionRequest;
import dev.penstock.proto.v1.WriteRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.flink.shaded.netty4.io.netty.channel.epoll.Epoll;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.DomainSocketAddress;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.FileDescriptor;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.Socket;

/**
 * The daemon's end of {@code session.sock}, played by a thread of the test. Netty's socket can also listen and send
 * descriptors, so no real daemon is needed to see whether they arrive. Each connection has a thread of its own.
 */
final class SessionPeer implements AutoCloseable {

    /** What the peer does with a connection; returning closes it. */
    interface Script {
        void run(Connection connection) throws Exception;
    }

    private final Socket listener;
    private final Thread thread;
    private final Script script;
    private final List<Thread> connections = new CopyOnWriteArrayList<>();
    final List<Throwable> faults = new CopyOnWriteArrayList<>();
    private volatile boolean stopping;

    SessionPeer(Path socket, Script script) throws IOException {
        // Loads netty's native part, which the socket's own class does not do.
        Epoll.ensureAvailability();
        this.script = script;
        this.listener = Socket.newSocketDomain();
        Files.deleteIfExists(socket);
        listener.bind(new DomainSocketAddress(socket.toString()));
        listener.listen(16);
        this.thread = new Thread(this::serve, "session-peer");
        thread.start();
    }

    private void serve() {
        byte[] address = new byte[26];
        Backoff backoff = new Backoff();
        while (!stopping) {
            try {
                int accepted = listener.accept(address);
                if (accepted < 0) {
                    backoff.pause("accept");
                    continue;
                }
                backoff = new Backoff();
                Thread served = new Thread(() -> run(accepted), "session-peer-connection");
                connections.add(served);
                served.start();
            } catch (Exception e) {
                if (!stopping) {
                    faults.add(e);
                }
            }
        }
    }

    private void run(int accepted) {
        try (Connection connection = new Connection(new Socket(accepted))) {
            script.run(connection);
        } catch (Exception e) {
            if (!stopping) {
                faults.add(e);
            }
        }
    }

    @Override
    public void close() {
        stopping = true;
        thread.interrupt();
        try {
            thread.join(5_000);
            listener.close();
            for (Thread connection : connections) {
                connection.interrupt();
                connection.join(5_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One client. */
    static final class Connection implements AutoCloseable {
        private final Socket socket;

        Connection(Socket socket) {
            this.socket = socket;
        }

        /** The next request, or null when the client has closed. */
        SessionRequest read() throws IOException {
            ByteBuffer frame = readFrame();
            return frame == null ? null : SessionRequest.parseFrom(frame);
        }

        /** The next request of a line, or null when the client has closed. */
        WriteRequest readOfLine() throws IOException {
            ByteBuffer frame = readFrame();
            return frame == null ? null : WriteRequest.parseFrom(frame);
        }

        private ByteBuffer readFrame() throws IOException {
            ByteBuffer prefix = read(4);
            return prefix == null ? null : read(prefix.getInt(0));
        }

        private ByteBuffer read(int bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
            Backoff backoff = new Backoff();
            for (int have = 0; have < bytes; ) {
                int got = socket.recv(buffer, have, bytes);
                if (got < 0) {
                    return null;
                }
                have += got;
                if (got == 0) {
                    backoff.pause("peer reads");
                }
            }
            return buffer;
        }

        void write(byte[] bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).put(bytes);
            for (int sent = 0; sent < bytes.length; ) {
                sent += socket.send(buffer, sent, bytes.length);
            }
        }

        void write(MessageLite reply) throws IOException {
            byte[] body = reply.toByteArray();
            write(ByteBuffer.allocate(4 + body.length).order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(body.length).put(body).array());
        }

        /** Sends one dummy byte that carries a descriptor of this file. */
        void writeDescriptor(Path file) throws IOException {
            // Netty opens for writing and truncates; the bytes are put back before the client can see them.
            byte[] content = Files.readAllBytes(file);
            FileDescriptor descriptor = FileDescriptor.from(file.toFile());
            Files.write(file, content);
            socket.sendFd(descriptor.intValue());
            descriptor.close();
        }

        /** Waits until the client has closed or the peer is stopped. */
        void awaitEnd() throws IOException {
            while (read() != null) {
                // Requests of a client that should be silent are of no interest here.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Waits for a condition with a deadline. */
    static void await(String what, Duration limit, Callable<Boolean> condition) throws Exception {
        Deadline deadline = Deadline.in(limit);
        Backoff backoff = new Backoff();
        while (!condition.call()) {
            if (deadline.expired()) {
                throw new AssertionError("not within " + deadline.limit() + ": " + what);
            }
            backoff.pause(what);
        }
    }
}
