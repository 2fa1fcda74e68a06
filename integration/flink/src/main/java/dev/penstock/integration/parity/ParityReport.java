package dev.penstock.integration.parity;

import dev.penstock.flink.sink.RunningVersions;
import java.util.ArrayList;
import java.util.List;

/** What a parity run has counted so far, and its first differences in full. */
public final class ParityReport {
    private static final int SHOWN = 10;
    private static final RunningVersions VERSIONS = RunningVersions.current();

    private final ParityFormat format;
    private final long seed;
    private final List<String> differences = new ArrayList<>();
    private long rows;
    private long cells;
    private long failing;
    private long differing;
    private long schemas;

    ParityReport(ParityFormat format, long seed) {
        this.format = format;
        this.seed = seed;
    }

    void schema() {
        schemas++;
    }

    void compared(long rowCells) {
        rows++;
        cells += rowCells;
    }

    /** A row that Flink's serializer refuses and that Penstock refuses too. */
    void bothFail(long rowCells) {
        compared(rowCells);
        failing++;
    }

    void differ(long rowCells, String description) {
        compared(rowCells);
        differing += Math.max(1, rowCells);
        if (differences.size() < SHOWN) {
            differences.add(description);
        }
    }

    /** Rows compared, those included that both sides refused. */
    public long rows() {
        return rows;
    }

    /** Leaf values compared, nulls included. */
    public long cells() {
        return cells;
    }

    /** Leaf values of the rows whose bytes differ; 0 is the promise. */
    public long differing() {
        return differing;
    }

    /** Rows that Flink's serializer refuses and that Penstock refused too. */
    public long failing() {
        return failing;
    }

    /** The first differences: schema, options, row and both records. */
    public List<String> differences() {
        return List.copyOf(differences);
    }

    /** The content of {@code out/parity.json}. */
    public String json() {
        return String.format(
                "{\"format\": \"%s\", \"flink\": \"%s\", \"cells\": %d, \"differing\": %d, \"rows\": %d, \"failing_rows\": %d,"
                        + " \"schemas\": %d, \"seed\": %d, \"jvm\": \"%s\"}%n",
                format.identifier(), VERSIONS.flink(), cells, differing, rows, failing, schemas, seed,
                Runtime.version());
    }

    /** One line for a person. */
    public String summary() {
        return String.format(
                "parity %s, Flink %s: %d cells in %d rows of %d schemas, %d differing, %d rows refused by both,"
                        + " seed %d, JVM %s",
                format.identifier(), VERSIONS.flink(), cells, rows, schemas, differing, failing, seed,
                Runtime.version());
    }
}
