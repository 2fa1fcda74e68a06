package dev.penstock.flink.columns;

/** A row type has a column that no column layout exists for; the stock sink must do the job. */
public final class UnsupportedTypeException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    UnsupportedTypeException(String reason) {
        super(reason);
        this.reason = reason;
    }

    /** Why, for a person: names the column and its type. */
    public String reason() {
        return reason;
    }
}
