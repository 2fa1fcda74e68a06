package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One process of the test bed with its log, signals by pid, and CPU time from the kernel. Thread safe.
 */
public final class ChildProcess {
    private static final Duration KILL_DEADLINE = Duration.ofSeconds(20);
    private static final int TAIL_CHARS = 4000;

    private final String name;
    private final Path log;
    private final Process process;
    private volatile double cpuAtEnd;

    private ChildProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    /**
     * Starts a command whose output, both streams, is appended to a log file.
     *
     * @param environment added to this JVM's environment
     */
    public static ChildProcess start(String name, List<String> command, Map<String, String> environment, Path log) {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        try {
            Process process = builder.start();
            Children.adopt(process);
            return new ChildProcess(name, log, process);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + name + ": " + command.get(0), e);
        }
    }

    /** Runs a command to its end and returns what it printed to standard output. */
    public static String run(List<String> command, Duration timeout) {
        Path output = null;
        Path errors = null;
        try {
            output = Files.createTempFile("penstock-out-", ".txt");
            errors = Files.createTempFile("penstock-err-", ".txt");
            Process process = new ProcessBuilder(command)
                    .redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
            Children.adopt(process);
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("no end after " + timeout + ": " + String.join(" ", command));
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException("exit code " + process.exitValue() + " of "
                        + String.join(" ", command) + ": " + tail(errors) + tail(output));
            }
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command.get(0), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + command.get(0), e);
        } finally {
            deleteFile(output);
            deleteFile(errors);
        }
    }

    public String name() {
        return name;
    }

    public long pid() {
        return process.pid();
    }

    public Path log() {
        return log;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** To be called by readiness conditions: ends the wait at once when the process is gone. */
    void requireAlive() {
        if (!process.isAlive()) {
            throw new Deadline.Impossible(name + " ended with code " + process.exitValue() + logTail());
        }
    }

    /** User and system CPU seconds of the process so far; after its end the last value that was read. */
    public double cpuSeconds() {
        if (process.isAlive()) {
            cpuAtEnd = ProcStat.cpuSeconds(pid()).orElse(cpuAtEnd);
        }
        return cpuAtEnd;
    }

    /** SIGSTOP: the process keeps its sockets and answers nothing. */
    public void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    /** SIGKILL, and waits until the process is gone. */
    public void kill() {
        cpuSeconds();
        process.destroyForcibly();
        awaitEnd(KILL_DEADLINE);
    }

    /** SIGTERM; SIGKILL when the process is still there after the timeout. Returns whether SIGTERM was enough. */
    public boolean stop(Duration timeout) {
        cpuSeconds();
        process.destroy();
        try {
            if (process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        kill();
        return false;
    }

    /** Waits for the end of the process and returns its exit code. */
    public int awaitEnd(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(name + " (pid " + pid() + ") still runs after " + timeout + logTail());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + name, e);
        }
    }

    /** The end of the log, as an appendix to a message. */
    public String logTail() {
        return "\n--- end of the log of " + name + " ---\n" + tail(log);
    }

    /** The end of the log, and first whether the process is gone. */
    String tail() {
        return (process.isAlive() ? "" : "ended with code " + process.exitValue() + "\n") + tail(log);
    }

    private void signal(String signal) {
        run(List.of("kill", "-" + signal, Long.toString(pid())), KILL_DEADLINE);
    }

    private static String tail(Path file) {
        try {
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            return text.substring(Math.max(0, text.length() - TAIL_CHARS));
        } catch (IOException e) {
            return "(" + e + ")";
        }
    }

    private static void deleteFile(Path file) {
        if (file != null) {
            file.toFile().delete();
        }
    }
}
