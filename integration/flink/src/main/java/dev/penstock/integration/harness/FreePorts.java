package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * TCP ports of the loopback interface for processes that are told theirs. They lie below those that the kernel gives to
 * outgoing connections: any client on the machine could be given such a port before the process binds it.
 */
public final class FreePorts {
    /** Above the ports that services have by custom. */
    private static final int LOWEST = 10_240;
    private static final int TRIES = 1000;
    /** Where Linux begins with the ports of outgoing connections unless it is told otherwise. */
    private static final int USUAL_EPHEMERAL = 32_768;

    private FreePorts() {}

    /** One port that was free a moment ago. */
    public static int one() {
        return find(1)[0];
    }

    /** Different ports that were free a moment ago. */
    public static int[] find(int count) {
        int end = firstEphemeral();
        Set<ServerSocket> sockets = new LinkedHashSet<>();
        try {
            for (int i = 0; i < count; i++) {
                sockets.add(listenBelow(end));
            }
            return sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
        } finally {
            sockets.forEach(FreePorts::close);
        }
    }

    private static ServerSocket listenBelow(int end) {
        IOException last = null;
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, end);
            try {
                return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
            } catch (IOException taken) {
                last = taken;
            }
        }
        throw new UncheckedIOException("no free port from " + LOWEST + " to " + (end - 1), last);
    }

    private static int firstEphemeral() {
        try {
            String range = Files.readString(Path.of("/proc/sys/net/ipv4/ip_local_port_range"));
            int first = Integer.parseInt(range.strip().split("\\s+")[0]);
            return first > LOWEST + TRIES ? first : USUAL_EPHEMERAL;
        } catch (IOException | NumberFormatException unknown) {
            return USUAL_EPHEMERAL;
        }
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
