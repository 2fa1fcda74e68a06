package dev.penstock.session;

import com.google.protobuf.MessageLite;
import dev.penstock.proto.v1.AttachLine;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.SessionReply;
import dev.penstock.proto.v1.SessionRequest;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteRequest;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A writer's line ({@code session.proto}, AttachLine): the short way for what a barrier waits for. The task's thread itself
 * writes the request and sleeps on the answer's socket; on the gRPC stream each direction wakes an event loop in between,
 * which on a busy machine takes longer than the broker.
 *
 * <p>Used by the task thread only, except {@link #wake}. After any exception but RETRY the line is of no more use.
 */
final class WriterLine implements AutoCloseable {

    /** Longest frame in either direction; answers have some hundred bytes. */
    static final int LONGEST_FRAME_BYTES = 16 << 10;

    private static final int PREFIX_BYTES = 4;

    private final SocketChannel channel;
    private final Selector selector;
    private final ByteBuffer out = buffer();
    private final ByteBuffer in = buffer();

    private WriterLine(SocketChannel channel) throws IOException {
        this.channel = channel;
        this.selector = Selector.open();
        channel.register(selector, SelectionKey.OP_READ);
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(PREFIX_BYTES + LONGEST_FRAME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Connects, and makes the connection the line of a writer.
     *
     * @param socket the session socket
     * @throws IOException with the reason when the daemon cannot be reached, refuses, or does not answer in time
     */
    static WriterLine attach(Path socket, AttachLine writer, Deadline deadline) throws IOException {
        WriterLine line = connect(socket, deadline);
        try {
            line.write(SessionRequest.newBuilder().setAttach(writer).build());
            while (!line.readFrame()) {
                if (deadline.expired()) {
                    throw new IOException("no answer within " + deadline.limit());
                }
                line.sleep("attaching the line", deadline);
            }
            SessionReply reply = SessionReply.parseFrom(line.frame());
            if (!reply.hasAttached()) {
                throw new IOException(reply.hasRefused() ? reply.getRefused().getMessage()
                        : reply.getReplyCase() + " is no answer to AttachLine");
            }
            return line;
        } catch (IOException | RuntimeException e) {
            line.close();
            throw e;
        }
    }

    private static WriterLine connect(Path socket, Deadline deadline) throws IOException {
        Backoff backoff = new Backoff();
        for (;;) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.configureBlocking(false);
                if (channel.connect(UnixDomainSocketAddress.of(socket))) {
                    return new WriterLine(channel);
                }
            } catch (IOException | RuntimeException e) {
                closeQuietly(channel);
                throw e;
            }
            // The daemon's queue of waiting connections is full; such a connect does not go on by itself (unix(7)).
            closeQuietly(channel);
            if (deadline.expired()) {
                throw new IOException("no connection within " + deadline.limit());
            }
            backoff.pause("connecting the line");
        }
    }

    /** Sends a request, without waiting. */
    void send(WriteRequest request) throws IOException {
        write(request);
    }

    /**
     * Waits for the answer to the last request.
     *
     * @param events what comes on the stream: the writer's failure ends the wait, when it wakes this line
     * @param step what was asked, for messages
     * @param peer the daemon, for messages
     * @throws DaemonException as {@link WriterEvents#await}
     * @throws IOException the line broke, with the reason
     */
    WriteEvent await(WriterEvents events, String step, String peer, Deadline deadline) throws IOException {
        for (;;) {
            if (readFrame()) {
                return WriteEvent.parseFrom(frame());
            }
            events.check();
            if (deadline.expired()) {
                throw events.noAnswer(step, peer, deadline);
            }
            sleep(step, deadline);
        }
    }

    /**
     * Sleeps until something comes, {@link #wake} is called, or the deadline is over; may return early.
     *
     * @throws DaemonException RETRY when the thread is interrupted; the flag stays set
     */
    private void sleep(String step, Deadline deadline) throws IOException {
        long millis = TimeUnit.NANOSECONDS.toMillis(deadline.remainingNanos()) + 1;
        selector.select(millis);
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new DaemonException(ErrorKind.RETRY, "interrupted while waiting: " + step);
        }
    }

    /** Ends the current sleep, or the next one. Any thread, also after the close. */
    void wake() {
        selector.wakeup();
    }

    /** Ends the line; the daemon's writer goes on without. Idempotent. */
    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException ignored) {
            // There is nothing left to do.
        }
        closeQuietly(channel);
    }

    private void write(MessageLite message) throws IOException {
        byte[] body = message.toByteArray();
        if (body.length > LONGEST_FRAME_BYTES) {
            throw new IOException("a frame of " + body.length + " bytes is too long for a line");
        }
        out.clear();
        out.putInt(body.length).put(body).flip();
        channel.write(out);
        if (out.hasRemaining()) {
            // Two requests at a time fit into any socket buffer, so the peer has not read for many barriers.
            throw new IOException("it takes no more requests");
        }
    }

    /** Whether a whole frame is there; {@link #frame} takes it out. */
    private boolean readFrame() throws IOException {
        if (!hasFrame() && channel.read(in) < 0) {
            throw new IOException("it closed the line: it has exited, was killed or restarted");
        }
        return hasFrame();
    }

    private boolean hasFrame() throws IOException {
        if (in.position() < PREFIX_BYTES) {
            return false;
        }
        int length = in.getInt(0);
        if (length < 0 || length > LONGEST_FRAME_BYTES) {
            throw new IOException("it announced a frame of " + Integer.toUnsignedString(length) + " bytes");
        }
        return in.position() >= PREFIX_BYTES + length;
    }

    private ByteBuffer frame() {
        int end = PREFIX_BYTES + in.getInt(0);
        byte[] body = new byte[end - PREFIX_BYTES];
        in.get(PREFIX_BYTES, body);
        in.limit(in.position()).position(end);
        in.compact();
        return ByteBuffer.wrap(body);
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException ignored) {
            // close(2) gives the number back even when it reports an error.
        }
    }
}
