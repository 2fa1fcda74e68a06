package dev.penstock.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/** The two jars, as {@code make jars} has built them. */
enum Flavour {
    /** Beside flink-connector-kafka. */
    KAFKA("penstock.bundle", "org/apache/kafka/"),
    /** Beside flink-sql-connector-kafka. */
    SQL_KAFKA("penstock.bundle.sql-kafka", "org/apache/flink/kafka/shaded/org/apache/kafka/");

    private final String property;
    private final String kafka;

    Flavour(String property, String kafka) {
        this.property = property;
        this.kafka = kafka;
    }

    Path jar() {
        Path jar = Path.of(System.getProperty(property));
        if (!Files.exists(jar)) {
            throw new IllegalStateException(jar + " is missing: run `make jars` first");
        }
        return jar;
    }

    /** The folder of kafka-clients' classes in the connector that this jar lies beside. */
    String kafka() {
        return kafka;
    }

    /** The names of all files inside. */
    List<String> files() {
        try (JarFile jar = new JarFile(jar().toFile())) {
            return jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a file inside holds. */
    byte[] read(String name) {
        try (JarFile jar = new JarFile(jar().toFile());
                InputStream in = jar.getInputStream(jar.getEntry(name))) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The lines of a text inside that say something. */
    List<String> lines(String name) {
        return new String(read(name), StandardCharsets.UTF_8)
                .lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
    }
}
