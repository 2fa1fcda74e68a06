package dev.penstock.arena.vector;

/**
 * How much of a variable part (bytes of strings, elements of lists) a batch of some number of rows gets: the need of
 * the first row, which is known, and for every further row the running average of earlier batches with a little slack.
 */
final class Quota {
    /**
     * Room above the average: what keeps one column's chance from closing a batch whose other columns are half empty.
     */
    private static final double SLACK = 1.0 / 16;

    private final double firstGuess;
    private final double floor;
    private long need;
    private double used;
    private double rows;

    /**
     * @param firstGuess least units per row to expect while there is no history
     * @param floor least units per row ever, so that a column that was always empty can begin not to be
     */
    Quota(double firstGuess, double floor) {
        this.firstGuess = firstGuess;
        this.floor = floor;
    }

    /** Sets what the first row of the coming batch takes. */
    void need(long units) {
        need = units;
    }

    /** Units for a batch of this many rows; for one row exactly its need. */
    long of(long batchRows) {
        double perRow = rows == 0 ? Math.max(need, firstGuess) : Math.max(used / rows, floor);
        return need + (long) Math.ceil((batchRows - 1) * perRow * (1 + SLACK));
    }

    /**
     * Learns from a finished batch. Earlier batches count half as much each time, weighted by rows: a batch that a
     * checkpoint closed after a few rows moves the average little.
     */
    void observe(long units, int batchRows) {
        used = used / 2 + units;
        rows = rows / 2 + batchRows;
    }
}
