package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What Penstock's client still holds in this JVM, which in a MiniCluster is the TaskManager: its threads, descriptors
 * of the daemon's memory, and mappings of it. (Its sockets show as the daemon's sessions.)
 */
public final class JvmLeftovers {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final String SEGMENT = "memfd:";

    private JvmLeftovers() {}

    /** Waits until nothing is left; the last user of a session does not wait for its end. */
    public static void awaitNone(Duration timeout) {
        Deadline.in(timeout).await("Penstock's threads and memory in this JVM to go", () -> find().isEmpty(),
                () -> ": " + find());
    }

    /** All that is there now, in words. */
    static List<String> find() {
        List<String> left = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("penstock")) {
                left.add("thread " + thread.getName());
            }
        }
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS); Stream<String> mappings = Files.lines(MAPPINGS)) {
            descriptors.filter(d -> target(d).contains(SEGMENT)).forEach(d -> left.add("descriptor " + d));
            mappings.filter(m -> m.contains(SEGMENT)).forEach(m -> left.add("mapping " + m));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return left;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            // Closed since it was listed.
            return "";
        }
    }
}
