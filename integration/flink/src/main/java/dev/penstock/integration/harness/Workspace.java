package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.stream.Stream;

/** The source tree, its output folders, and places for what one run needs. */
public final class Workspace {
    private static final Path ROOT = findRoot();

    private Workspace() {}

    /** The root of the source tree: system property {@code penstock.root}, else the nearest parent with a go.mod. */
    public static Path root() {
        return ROOT;
    }

    /** {@code <root>/build/penstockd}, or what system property {@code penstock.daemon} says. */
    public static Path daemonBinary() {
        return pathProperty("penstock.daemon", "build/penstockd", "run `make build` first");
    }

    /** The daemon with fault points, {@code <root>/build/penstockd-faults}. */
    static Path faultyDaemonBinary() {
        return pathProperty("penstock.daemon.faults", "build/penstockd-faults", "run `make daemon-faults` first");
    }

    /** {@code <root>/build/parity-encoder}, or what system property {@code penstock.parity.encoder} says. */
    public static Path parityEncoder() {
        return pathProperty("penstock.parity.encoder", "build/parity-encoder", "run `make build` first");
    }

    /** The unpacked schema registry, {@code <root>/build/registry} or what {@code penstock.registry} says. */
    public static Path registryFolder() {
        return pathProperty("penstock.registry", "build/registry", "run `make schema-registry` first");
    }

    /** {@code <root>/out}, created when missing: results of demo and benchmarks, logs of failed runs. */
    public static Path out() {
        try {
            return Files.createDirectories(ROOT.resolve("out"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A new empty folder under java.io.tmpdir. Whoever asks deletes it, see {@link #delete}. */
    public static Path temporary(String name) {
        try {
            return Files.createTempDirectory("penstock-" + name + "-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a file so that a reader finds the old text or the new one. */
    public static void replace(Path file, String text) {
        try {
            Path next = Files.createTempFile(file.getParent(), "next-", "");
            Files.writeString(next, text);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes a folder of {@link #temporary}; files that vanish meanwhile are no fault, a process may be ending. */
    public static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            System.err.println("cannot delete " + folder + ": " + e);
        }
    }

    /** What the system property says, else a path in the tree; it must exist. */
    static Path pathProperty(String property, String fallback, String remedy) {
        String value = System.getProperty(property);
        Path path = value == null || value.isEmpty() ? ROOT.resolve(fallback) : Path.of(value);
        if (!Files.exists(path)) {
            throw new IllegalStateException(path + " is missing (system property " + property + "): " + remedy);
        }
        return path.toAbsolutePath();
    }

    private static Path findRoot() {
        String value = System.getProperty("penstock.root");
        if (value != null && !value.isEmpty()) {
            return Path.of(value).toAbsolutePath().normalize();
        }
        for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
            if (Files.exists(p.resolve("go.mod"))) {
                return p;
            }
        }
        throw new IllegalStateException("no go.mod above " + Path.of("").toAbsolutePath()
                + ": start inside the source tree or set system property penstock.root");
    }
}
