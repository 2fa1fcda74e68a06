package dev.penstock.flink.columns;

/**
 * A row holds a value that cannot be handed over without changing what Flink would have written. The message names the
 * column. The batch is as it was before the row; the job must fail, since the row may not be dropped.
 */
public final class RejectedRowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RejectedRowException(String column, String problem) {
        super("column '" + column + "': " + problem);
    }
}
