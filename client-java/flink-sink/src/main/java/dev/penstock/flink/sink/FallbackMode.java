package dev.penstock.flink.sink;

/** What happens when Penstock cannot do a job; the values of the table option {@code penstock.fallback}. */
public enum FallbackMode {
    /** The stock sink does the job; operator name, log and a metric say why. */
    STOCK("stock"),
    /** The statement or the task fails with the reason. */
    FAIL("fail");

    private final String option;

    FallbackMode(String option) {
        this.option = option;
    }

    /** The spelling of the table option. */
    @Override
    public String toString() {
        return option;
    }
}
