package dev.penstock.integration.session;

import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.JavaCommand;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A JVM of its own that opens a session and prints how that went: {@code OPEN}, or the error's kind and message. */
public final class SessionProbe {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private SessionProbe() {}

    /** The one argument is the folder of the daemon's sockets. */
    public static void main(String[] args) {
        SessionSettings settings =
                new SessionSettings(Path.of(args[0]), 64 << 20, "probe", "2.2.1", "2.18.2", Duration.ofSeconds(10));
        try {
            DaemonSession.acquire(settings).release();
            System.out.println("OPEN");
        } catch (DaemonException e) {
            System.out.println(e.kind() + " " + e.getMessage());
        }
    }

    /**
     * Runs the probe.
     *
     * @param before a command that takes the rest of the line as the command to run, or empty
     * @param jvmFlags flags of the JVM
     * @param classPath where the probe and the client are found
     */
    static String run(List<String> before, List<String> jvmFlags, String classPath, Path sockets) {
        List<String> command = new ArrayList<>(before);
        command.add(JavaCommand.java());
        command.addAll(jvmFlags);
        command.addAll(List.of("-cp", classPath, SessionProbe.class.getName(), sockets.toString()));
        return ChildProcess.run(command, TIMEOUT).strip();
    }
}
