package dev.penstock.integration.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes of the harness can be stopped, continued and killed, and none outlives it. */
@Timeout(90)
class ChildrenTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Run in a JVM of its own: starts a child, prints its pid, and waits to be killed. */
    public static final class Parent {
        private Parent() {}

        /** The first argument is a file for the child's output. */
        public static void main(String[] args) throws InterruptedException {
            ChildProcess child = ChildProcess.start("sleeper", List.of("sleep", "300"), Map.of(), Path.of(args[0]));
            System.out.println(child.pid());
            System.out.flush();
            Thread.currentThread().join();
        }
    }

    @Test
    void aKilledHarnessLeavesNoChild() throws Exception {
        Path log = Files.createTempFile("penstock-child", ".log");
        Process parent = new ProcessBuilder(JavaCommand.java(), "-cp", System.getProperty("java.class.path"),
                Parent.class.getName(), log.toString()).start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(parent.getInputStream(), StandardCharsets.UTF_8))) {
            long pid = Long.parseLong(output.readLine());
            assertTrue(isAlive(pid), "the child must run before its parent is killed");
            parent.destroyForcibly();
            Deadline.in(TIMEOUT).await("the end of the child", () -> !isAlive(pid));
        } finally {
            parent.destroyForcibly();
            Files.deleteIfExists(log);
        }
    }

    @Test
    void pauseStopsTheClockOfAProcess() throws Exception {
        Path log = Files.createTempFile("penstock-child", ".log");
        ChildProcess child = ChildProcess.start("spinner", List.of("sh", "-c", "while :; do :; done"), Map.of(), log);
        try {
            Deadline.in(TIMEOUT).await("CPU of the spinner", () -> child.cpuSeconds() > 0.05);
            child.pause();
            Deadline.in(TIMEOUT).await("state stopped", () -> Files.readString(
                    Path.of("/proc/" + child.pid() + "/stat")).contains(") T "));
            double stopped = child.cpuSeconds();
            assertEquals(stopped, child.cpuSeconds());
            child.resume();
            Deadline.in(TIMEOUT).await("more CPU of the spinner", () -> child.cpuSeconds() > stopped);
        } finally {
            child.kill();
            Files.deleteIfExists(log);
        }
        assertFalse(child.isAlive());
        assertTrue(child.cpuSeconds() > 0, "the last reading stays");
    }

    private static boolean isAlive(long pid) {
        // A child whose parent was killed may stay as a zombie until somebody collects it; it runs no longer.
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)
                && !readStat(pid).contains(") Z ");
    }

    private static String readStat(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/stat"));
        } catch (IOException e) {
            return ") Z ";
        }
    }
}
