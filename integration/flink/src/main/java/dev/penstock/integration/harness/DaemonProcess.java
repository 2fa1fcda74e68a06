package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** penstockd as a child process with a configuration, sockets and log of its own in a temporary folder. */
public final class DaemonProcess implements AutoCloseable {
    /** Environment variable in which TaskManagers find the folder when a table does not name it. */
    public static final String DIRECTORY_VARIABLE = "PENSTOCK_SOCKET_DIR";

    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final Path sockets;
    private final Path config;
    private final boolean servesUs;
    private final Path binary;
    private final Path faults;
    private ChildProcess process;

    private DaemonProcess(String listenKeys, String sections, Path binary) {
        this.binary = binary;
        folder = Workspace.temporary("daemon");
        sockets = folder.resolve("run");
        config = folder.resolve("penstockd.toml");
        faults = folder.resolve("faults");
        servesUs = listenKeys.isEmpty();
        try {
            Files.writeString(config, """
                    version = 1
                    [listen]
                    directory = "%s"
                    %s
                    [process]
                    shutdown_grace = "2s"
                    [metrics]
                    listen = ""
                    %s
                    """.formatted(sockets, listenKeys, sections));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a daemon and waits until it is ready to serve. */
    public static DaemonProcess start() {
        return start("");
    }

    /**
     * Starts a daemon with more than the defaults and waits until it is ready to serve.
     *
     * @param sections of the configuration, other than listen, process and metrics
     */
    public static DaemonProcess start(String sections) {
        return start("", sections, Workspace.daemonBinary());
    }

    /** Starts the daemon of tests, which does what {@link #faults} says. */
    public static DaemonProcess startWithFaults() {
        return start("", "", Workspace.faultyDaemonBinary());
    }

    /** Starts a daemon that allows only a user id that nobody has, and waits until it listens. */
    public static DaemonProcess startForStrangers() {
        return start("allow_uids = [424242]\nallow_gids = [424242]", "", Workspace.daemonBinary());
    }

    private static DaemonProcess start(String listenKeys, String sections, Path binary) {
        DaemonProcess daemon = new DaemonProcess(listenKeys, sections, binary);
        try {
            daemon.launch();
            return daemon;
        } catch (RuntimeException e) {
            daemon.close();
            throw e;
        }
    }

    /**
     * Folder with session.sock and api.sock, for the option {@code penstock.socket-dir} or the variable
     * {@link #DIRECTORY_VARIABLE}.
     */
    public Path directory() {
        return sockets;
    }

    /** Replaces the rules of the fault points (daemon/faultpoint); none when empty. */
    public void faults(String rules) {
        Workspace.replace(faults, rules);
    }

    public ChildProcess process() {
        return process;
    }

    /** Starts a new daemon life on the same folder after a kill or stop; it must remove the stale sockets itself. */
    public void restart() {
        launch();
    }

    /** What {@code penstockd status --json} says now. */
    public DaemonStatus status() {
        String text = ChildProcess.run(command("status", "--json"), COMMAND_TIMEOUT);
        try {
            return new DaemonStatus(JSON.readTree(text));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("penstockd status --json printed: " + text, e);
        }
    }

    /** Status as a person reads it and the end of the log, for the explanation of a failure. */
    public Diagnosis diagnosis() {
        return new Diagnosis()
                .with("penstockd status", () -> ChildProcess.run(command("status"), COMMAND_TIMEOUT))
                .with("end of the log of penstockd", () -> process.tail());
    }

    /** Waits until the daemon holds nothing of any job. */
    public void awaitNothingLeft(Duration timeout) {
        Deadline.in(timeout).await("penstockd to hold nothing of ended jobs", () -> status().leftovers().isEmpty(),
                () -> ": " + status().leftovers() + process.logTail());
    }

    @Override
    public void close() {
        if (process != null && process.isAlive()) {
            process.resume();
            process.stop(STOP_TIMEOUT);
        }
        Workspace.delete(folder);
    }

    private void launch() {
        ChildProcess started = ChildProcess.start("penstockd",
                List.of(binary.toString(), "run", "--config", config.toString()),
                Map.of("PENSTOCK_FAULTPOINTS", faults.toString()), folder.resolve("penstockd.log"));
        process = started;
        Deadline.in(START_TIMEOUT).await("penstockd to be ready", () -> {
            started.requireAlive();
            if (!servesUs) {
                // A health check would be refused as well.
                return Files.readString(started.log()).contains("msg=ready");
            }
            ChildProcess.run(command("healthcheck"), COMMAND_TIMEOUT);
            return true;
        }, started::logTail);
    }

    private List<String> command(String name, String... flags) {
        List<String> command = new ArrayList<>(
                List.of(binary.toString(), name, "--config", config.toString()));
        command.addAll(List.of(flags));
        return command;
    }
}
