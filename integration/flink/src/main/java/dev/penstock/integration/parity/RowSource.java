package dev.penstock.integration.parity;

import org.apache.flink.table.data.GenericRowData;

/** The rows of one schema, one after the other. */
interface RowSource {
    /** Whether there is another row. */
    boolean hasNext();

    /** The next row, in its kind, which the caller may change. */
    GenericRowData next();

    /** Leaf values in the rows so far, nulls included. */
    long cells();
}
