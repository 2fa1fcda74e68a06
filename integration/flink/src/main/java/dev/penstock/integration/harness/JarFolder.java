package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of jars.
 *
 * @param remedy what fills it, for messages
 */
public record JarFolder(Path path, String remedy) {

    /** Where {@code make jars} leaves the jars that users install. */
    public static JarFolder bundles() {
        return new JarFolder(Workspace.root().resolve("client-java/flink-sql-bundle/target"), "run `make jars`");
    }

    /** Penstock's own jar for flink-connector-kafka. */
    public static Path bundle() {
        return bundles().only("penstock-flink-sql-connector-[0-9.]+(-SNAPSHOT)?\\.jar");
    }

    /** Penstock's own jar for flink-sql-connector-kafka. */
    public static Path sqlKafkaBundle() {
        return bundles().only("penstock-flink-sql-connector-.*-sql-kafka\\.jar");
    }

    /** All, by name. */
    public List<Path> all() {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path + ": " + remedy, e);
        }
    }

    /**
     * The one whose name matches.
     *
     * @throws IllegalStateException when there is none or more than one
     */
    public Path only(String pattern) {
        List<Path> found = all().stream().filter(jar -> jar.getFileName().toString().matches(pattern)).toList();
        if (found.size() != 1) {
            throw new IllegalStateException(path + " has " + found.size() + " jars " + pattern + ", wanted one: " + remedy
                    + "; after a change of version remove the old ones");
        }
        return found.get(0);
    }
}
