package dev.penstock.session;

import dev.penstock.proto.v1.ErrorKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Says why a socket of the daemon cannot be used, in words that name the path and what to do. Everything here happens
 * before a session exists, so every fault is of kind FALL_BACK: the stock sink can do the job.
 */
final class SocketFault {

    // sun_path has 108 bytes with its end mark (unix(7)).
    private static final int LONGEST_PATH_BYTES = 107;

    private SocketFault() {}

    /** Refuses a path that does not fit into a socket address, before the kernel cuts or refuses it. */
    static void checkLength(Path socket) throws DaemonException {
        int bytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_PATH_BYTES) {
            throw new DaemonException(ErrorKind.FALL_BACK, "socket path " + socket + " has " + bytes
                    + " bytes; Unix sockets allow " + LONGEST_PATH_BYTES
                    + ": set penstock.socket-dir to a shorter folder");
        }
    }

    /** Turns a failed connect into the error for the user. */
    static DaemonException ofConnect(Path socket, IOException fault) {
        String text = String.valueOf(fault.getMessage());
        if (fault instanceof FileNotFoundException) {
            return new DaemonException(ErrorKind.FALL_BACK, "no daemon socket at " + socket
                    + ": start penstockd on this machine, or set penstock.socket-dir to the folder of its sockets",
                    fault);
        }
        if (text.contains("Permission denied")) {
            return new DaemonException(ErrorKind.FALL_BACK, "no permission to connect to " + socket + ": "
                    + describeAccess(socket), fault);
        }
        if (text.contains("Connection refused")) {
            return new DaemonException(ErrorKind.FALL_BACK, "nobody listens at " + socket
                    + " (the socket of a daemon that is gone): start penstockd, or set penstock.socket-dir to the"
                    + " folder of its sockets", fault);
        }
        return new DaemonException(ErrorKind.FALL_BACK, "cannot connect to " + socket + ": " + text, fault);
    }

    /** True when the daemon's queue of waiting connections is full, so that a later try may succeed. */
    static boolean isBusy(IOException fault) {
        return String.valueOf(fault.getMessage()).contains("Resource temporarily unavailable");
    }

    /**
     * Netty's native part could not be loaded.
     *
     * @param netty "Flink's shaded netty" or "gRPC's shaded netty"
     * @param workdirProperty the property that moves the folder which the native library is unpacked to
     */
    static DaemonException ofMissingEpoll(String netty, String workdirProperty, Throwable cause) {
        String workdir = System.getProperty(workdirProperty);
        String folder = workdir == null
                ? "java.io.tmpdir = " + System.getProperty("java.io.tmpdir") : workdirProperty + " = " + workdir;
        return new DaemonException(ErrorKind.FALL_BACK, netty + " cannot load its epoll library on "
                + System.getProperty("os.name") + "/" + System.getProperty("os.arch") + " (" + rootText(cause)
                + "). The library is unpacked to a folder that must not be mounted noexec, now " + folder + "; set "
                + "-Djava.io.tmpdir or -D" + workdirProperty + " (env.java.opts.taskmanager) to a folder that allows "
                + "execution. Linux on x86_64 and aarch64 are supported", cause);
    }

    /** Names the first part of the path that keeps this process out, with its mode, owner and group. */
    static String describeAccess(Path socket) {
        Path culprit = socket;
        for (Path part = socket.getParent(); part != null; part = part.getParent()) {
            if (!Files.isExecutable(part) && Files.exists(part, LinkOption.NOFOLLOW_LINKS)) {
                culprit = part;
            }
        }
        try {
            PosixFileAttributes found = Files.readAttributes(culprit, PosixFileAttributes.class);
            return culprit + " has mode " + PosixFilePermissions.toString(found.permissions()) + ", owner "
                    + found.owner().getName() + ", group " + found.group().getName() + ", and this process runs as "
                    + System.getProperty("user.name") + ": add that user to group " + found.group().getName()
                    + ", or change socket_mode and directory_mode in penstockd's configuration";
        } catch (IOException | UnsupportedOperationException e) {
            return culprit + " cannot be inspected by user " + System.getProperty("user.name")
                    + ": give that user access to the folder of the daemon's sockets";
        }
    }

    private static String rootText(Throwable fault) {
        Throwable root = fault;
        while (root != null && root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root == null ? "no reason given" : String.valueOf(root.getMessage());
    }
}
