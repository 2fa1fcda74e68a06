package dev.penstock.session;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import java.nio.file.Path;

/** The gRPC channel over {@code api.sock}: one for each session, shared by the streams of all its writers. */
final class ApiChannel {

    private static final int LARGEST_MESSAGE_BYTES = 4 << 20;
    private static final String WORKDIR_PROPERTY = "io.grpc.netty.shaded.io.netty.native.workdir";

    private ApiChannel() {}

    /**
     * Creates the channel; it connects with its first call. Keep-alive stays off: the session socket is the life line.
     */
    static ManagedChannel open(Path socket) throws DaemonException {
        SocketFault.checkLength(socket);
        requireEpoll();
        // forTarget("unix:...") finds no transport with the shaded netty; an absolute path in URI form does. getRawPath
        // escapes what a path may contain and a URI may not.
        return Grpc.newChannelBuilder("unix://" + socket.toUri().getRawPath(), InsecureChannelCredentials.create())
                // Events are short and go straight to the waiting task; a pool of threads would add a hand-over to
                // each.
                .directExecutor()
                .overrideAuthority("localhost")
                .maxInboundMessageSize(LARGEST_MESSAGE_BYTES)
                .build();
    }

    private static void requireEpoll() throws DaemonException {
        Throwable cause;
        try {
            cause = Epoll.unavailabilityCause();
        } catch (LinkageError e) {
            cause = e;
        }
        if (cause != null) {
            throw SocketFault.ofMissingEpoll("gRPC's shaded netty", WORKDIR_PROPERTY, cause);
        }
    }
}
