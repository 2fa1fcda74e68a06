package dev.penstock.integration.judge;

import java.util.List;

/**
 * What a topic holds compared with what it should hold.
 *
 * @param rows records of the judged topic
 * @param lost row ids that should be there and are not
 * @param duplicated records whose row id was there already
 * @param differing records of either topic that have no equal partner in the other, plus one when a timestamp lies
 *     outside of the run
 * @param examples a few of the faults, in words
 */
public record Verdict(long rows, long lost, long duplicated, long differing, List<String> examples) {

    /** Whether every row is there once and is, byte for byte, what the reference has. */
    public boolean isExact() {
        return lost == 0 && duplicated == 0 && differing == 0;
    }

    /**
     * Throws unless the verdict is exact and the number of rows is the expected one.
     *
     * @throws AssertionError with all numbers and examples
     */
    public void requireExact(long expectedRows) {
        if (!isExact() || rows != expectedRows) {
            throw new AssertionError("expected " + expectedRows + " rows, each once and as the reference; " + this);
        }
    }
}
