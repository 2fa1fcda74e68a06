package dev.penstock.integration.parity;

import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

/**
 * Fixed rows of one type, to be compared under each of some options.
 *
 * @param name what the rows are about
 * @param type their type
 * @param rows one object for each column, in Flink's internal data structures
 * @param options the options
 */
record CorpusTable(String name, RowType type, List<Object[]> rows, List<? extends FormatOptions> options) {
    /** Rows of larger tables have one kind and one shape each. */
    private static final int CROSSED_ROWS = 1000;

    /** A table of one column. */
    static CorpusTable column(
            String name, LogicalType type, List<?> values, List<? extends FormatOptions> options) {
        return new CorpusTable(
                name, columns(type), values.stream().map(value -> new Object[] {value}).toList(), options);
    }

    static RowType columns(LogicalType... types) {
        return RowType.of(false, types, RowType.of(types).getFieldNames().toArray(new String[0]));
    }

    /** Whether there are few enough rows for each to come in every kind and every shape. */
    boolean crossed() {
        return rows.size() <= CROSSED_ROWS;
    }

    /**
     * The rows, each of them in every kind unless there are many.
     *
     * @param changelog whether the format has row kinds
     */
    RowSource source(boolean changelog) {
        RowKind[] kinds = changelog ? RowKind.values() : new RowKind[] {RowKind.INSERT};
        int kindsOfRow = crossed() ? kinds.length : 1;
        return new RowSource() {
            private int done;

            @Override
            public boolean hasNext() {
                return done < rows.size() * kindsOfRow;
            }

            @Override
            public GenericRowData next() {
                GenericRowData row = GenericRowData.of(rows.get(done / kindsOfRow));
                row.setRowKind(kinds[done % kinds.length]);
                done++;
                return row;
            }

            @Override
            public long cells() {
                return (long) done * type.getFieldCount();
            }
        };
    }
}
