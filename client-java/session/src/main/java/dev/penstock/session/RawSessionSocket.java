package dev.penstock.session;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.apache.flink.shaded.netty4.io.netty.channel.epoll.Epoll;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.DomainSocketAddress;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.FileDescriptor;
import org.apache.flink.shaded.netty4.io.netty.channel.unix.Socket;

/**
 * The client's end of {@code session.sock} (frames: {@code session.proto}): a little-endian uint32 length and that many
 * bytes of protobuf; after a reply with {@code carries_fd} one dummy byte that carries one descriptor.
 *
 * <p>The JDK cannot receive descriptors, Flink's shaded netty can ({@code Socket.recvFd}), without an event loop. That
 * socket is non-blocking; every wait here polls with a backoff and a {@link Deadline}. Frames are read to the byte: a
 * read that went beyond a frame would swallow the dummy byte, and the kernel then drops its descriptor.
 *
 * <p>Not thread-safe, not even {@link #close()}: a descriptor number that is closed under a reader may already belong
 * to somebody else. After a session is open only its {@link SessionKeeper} thread uses it. After any exception the
 * connection is out of step and of no more use.
 */
final class RawSessionSocket implements AutoCloseable {

    /** Longest reply that is accepted; real ones have some hundred bytes. */
    static final int LONGEST_REPLY_BYTES = 1 << 20;

    private static final String WORKDIR_PROPERTY = "org.apache.flink.shaded.netty4.io.netty.native.workdir";
    private static final int PREFIX_BYTES = 4;
    // getsockopt(2): SOL_SOCKET and SO_PEERCRED on x86_64 and aarch64; the answer is struct ucred {pid, uid, gid}.
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int UCRED_BYTES = 12;

    private final Socket socket;
    private final Path path;
    private final int peerPid;
    private final ByteBuffer probe = ByteBuffer.allocateDirect(1);

    private RawSessionSocket(Socket socket, Path path) throws IOException {
        this.socket = socket;
        this.path = path;
        ByteBuffer credentials = ByteBuffer.allocateDirect(UCRED_BYTES).order(ByteOrder.nativeOrder());
        socket.getRawOpt(SOL_SOCKET, SO_PEERCRED, credentials);
        this.peerPid = credentials.getInt(0);
    }

    /**
     * Connects.
     *
     * @throws DaemonException of kind FALL_BACK, with what to do: no socket, no permission, nobody there, no native
     *     library
     */
    static RawSessionSocket connect(Path path, Deadline deadline) throws DaemonException {
        SocketFault.checkLength(path);
        requireEpoll();
        Socket socket = Socket.newSocketDomain();
        try {
            Backoff backoff = new Backoff();
            while (!tryConnect(socket, path)) {
                if (deadline.expired()) {
                    throw new DaemonException(ErrorKind.FALL_BACK, "penstockd at " + path
                            + " accepted no connection within " + deadline.limit() + ": it is stopped or overloaded");
                }
                backoff.pause("connecting to " + path);
            }
            return new RawSessionSocket(socket, path);
        } catch (IOException e) {
            closeQuietly(socket);
            throw e instanceof DaemonException ours ? ours : SocketFault.ofConnect(path, e);
        }
    }

    /** The daemon, for messages: process id as of its listen(2), and the socket's path. */
    String peer() {
        return "penstockd (pid " + peerPid + ", socket " + path + ")";
    }

    /**
     * Sends a request and reads its reply. A daemon that will have no session with this process answers as soon as it
     * has accepted the connection and closes it, so the request may fail to be sent while the reason lies there to be
     * read.
     *
     * @param step what is being asked, for messages
     * @return the reply, which may be a refusal
     * @throws DaemonException of kind FALL_BACK: a fault of the connection, or no answer in time
     */
    SessionReply exchange(SessionRequest request, String step, Deadline deadline) throws DaemonException {
        try {
            IOException unsent = trySend(request, step, deadline);
            try {
                return receive(step, deadline);
            } catch (IOException e) {
                if (unsent != null) {
                    e.addSuppressed(unsent);
                }
                throw e;
            }
        } catch (DaemonException e) {
            throw e;
        } catch (IOException e) {
            throw new DaemonException(ErrorKind.FALL_BACK, step + ": connection to " + peer() + " failed: "
                    + e.getMessage(), e);
        }
    }

    /**
     * Receives the descriptor that follows a reply with {@code carries_fd}. The caller owns it and must close it; it is
     * not close-on-exec, so it should not live longer than the mapping takes.
     */
    FileDescriptor receiveDescriptor(String step, Deadline deadline) throws DaemonException {
        try {
            Backoff backoff = new Backoff();
            for (;;) {
                int descriptor = socket.recvFd();
                if (descriptor > 0) {
                    return new FileDescriptor(descriptor);
                }
                if (descriptor < 0) {
                    throw ended(step);
                }
                await(step, deadline, backoff);
            }
        } catch (DaemonException e) {
            throw e;
        } catch (IOException e) {
            throw new DaemonException(ErrorKind.FALL_BACK, step + ": no descriptor came from " + peer() + ": "
                    + e.getMessage(), e);
        }
    }

    /**
     * Looks, without waiting, whether the daemon is still there. Only between exchanges: the daemon never speaks
     * unasked, so anything that can be read then is the end, a fault, or a breach of the protocol.
     *
     * @return null while the connection is whole, otherwise what is wrong with it
     */
    String findFault() {
        try {
            probe.clear();
            int got = socket.recv(probe, 0, 1);
            if (got == 0) {
                return null;
            }
            return got < 0 ? "it closed the session: it has exited, was killed or restarted" : "it sent a byte unasked";
        } catch (IOException e) {
            return "the connection failed: " + e.getMessage();
        }
    }

    /** Closes the connection; for the daemon that is the end of the session and of all that it holds. */
    @Override
    public void close() {
        closeQuietly(socket);
    }

    /** Returns the fault when the connection does not take the request; reading then ends at once, reply or not. */
    private IOException trySend(SessionRequest request, String step, Deadline deadline) throws DaemonException {
        try {
            send(request, step, deadline);
            return null;
        } catch (DaemonException e) {
            throw e;
        } catch (IOException e) {
            return e;
        }
    }

    private void send(SessionRequest request, String step, Deadline deadline) throws IOException {
        byte[] body = request.toByteArray();
        ByteBuffer frame = ByteBuffer.allocateDirect(PREFIX_BYTES + body.length).order(ByteOrder.LITTLE_ENDIAN);
        frame.putInt(body.length).put(body);
        Backoff backoff = new Backoff();
        for (int sent = 0; sent < frame.capacity(); ) {
            int written = socket.send(frame, sent, frame.capacity());
            sent += written;
            if (written == 0) {
                await(step, deadline, backoff);
            }
        }
    }

    private SessionReply receive(String step, Deadline deadline) throws IOException {
        int length = readFully(PREFIX_BYTES, step, deadline).getInt(0);
        if (length < 0 || length > LONGEST_REPLY_BYTES) {
            throw new DaemonException(ErrorKind.FALL_BACK, step + ": " + peer() + " announced a reply of "
                    + Integer.toUnsignedString(length) + " bytes, at most " + LONGEST_REPLY_BYTES
                    + " are allowed: is penstock.socket-dir the folder of penstockd?");
        }
        try {
            return SessionReply.parseFrom(readFully(length, step, deadline));
        } catch (InvalidProtocolBufferException e) {
            throw new DaemonException(ErrorKind.FALL_BACK, step + ": " + peer() + " sent " + length
                    + " bytes that are no reply of protocol " + ClientIdentity.PROTOCOL_MAX + ": " + e.getMessage(), e);
        }
    }

    private ByteBuffer readFully(int bytes, String step, Deadline deadline) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Backoff backoff = new Backoff();
        for (int have = 0; have < bytes; ) {
            int got = socket.recv(buffer, have, bytes);
            if (got < 0) {
                throw ended(step);
            }
            if (got == 0) {
                await(step, deadline, backoff);
            }
            have += got;
        }
        return buffer;
    }

    private void await(String step, Deadline deadline, Backoff backoff) throws DaemonException {
        if (deadline.expired()) {
            throw new DaemonException(ErrorKind.FALL_BACK, step + ": no answer from " + peer() + " within "
                    + deadline.limit() + ": it is stopped or overloaded");
        }
        backoff.pause(step);
    }

    private DaemonException ended(String step) {
        return new DaemonException(ErrorKind.FALL_BACK, step + ": " + peer()
                + " closed the connection; its log says why");
    }

    private static boolean tryConnect(Socket socket, Path path) throws IOException {
        try {
            return socket.connect(new DomainSocketAddress(path.toString()));
        } catch (IOException e) {
            if (SocketFault.isBusy(e)) {
                return false;
            }
            throw e;
        }
    }

    private static void requireEpoll() throws DaemonException {
        Throwable cause;
        try {
            cause = Epoll.unavailabilityCause();
        } catch (LinkageError e) {
            cause = e;
        }
        if (cause != null) {
            throw SocketFault.ofMissingEpoll("Flink's shaded netty", WORKDIR_PROPERTY, cause);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException ignored) {
            // close(2) gives the number back even when it reports an error; there is nothing left to do.
        }
    }
}
