package dev.penstock.integration.demo;

import dev.penstock.integration.harness.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the demo replays.
 *
 * @param rows rows of each run
 * @param data file of JSON lines, absolute
 * @param columns SQL column list of its records
 * @param connector the connector that is compared with stock {@code kafka}
 */
record DemoSettings(long rows, Path data, String columns, String connector) {
    private static final String DEFAULT_ROWS = "400000";
    private static final String DEFAULT_DATA = "integration/data/flights.jsonl";
    /** Fewer rows end before a TaskManager can be killed in the middle. */
    private static final long MIN_ROWS = 1000;

    /**
     * Settings from the system properties {@code demo.rows}, {@code demo.data} and {@code demo.connector}; the Makefile
     * sets the first two from ROWS and DATA. A relative path counts from the root of the tree. {@code demo.connector =
     * kafka} compares stock with itself, which shows what the judge is worth.
     *
     * @throws IllegalArgumentException names the setting, its value and what to do
     */
    static DemoSettings read() {
        Path data = Workspace.root().resolve(property("demo.data", DEFAULT_DATA));
        if (!Files.isReadable(data)) {
            throw new IllegalArgumentException("DATA=" + data + " cannot be read: name a file of JSON lines");
        }
        return new DemoSettings(rows(property("demo.rows", DEFAULT_ROWS)), data, columns(schemaOf(data)),
                property("demo.connector", "penstock-kafka"));
    }

    private static long rows(String text) {
        try {
            long rows = Long.parseLong(text);
            if (rows >= MIN_ROWS && rows <= Integer.MAX_VALUE) {
                return rows;
            }
        } catch (NumberFormatException e) {
            // The message below covers it.
        }
        throw new IllegalArgumentException("ROWS=" + text + " is not usable: give a number from " + MIN_ROWS + " to "
                + Integer.MAX_VALUE);
    }

    private static Path schemaOf(Path data) {
        String name = data.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return data.resolveSibling((dot < 0 ? name : name.substring(0, dot)) + ".schema");
    }

    private static String columns(Path schema) {
        try {
            return Files.readString(schema).strip();
        } catch (IOException e) {
            if (!Files.exists(schema)) {
                throw new IllegalArgumentException("the schema " + schema + " is missing: write the SQL column list of "
                        + "the records there, for example `name STRING, age INT`", e);
            }
            throw new UncheckedIOException(e);
        }
    }

    private static String property(String name, String fallback) {
        String value = System.getProperty(name, "");
        return value.isEmpty() ? fallback : value;
    }
}
