package dev.penstock.integration.parity;

import java.util.Iterator;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Fixed rows of one type, to be compared under each of some options.
 *
 * @param name what the rows are about
 * @param type their type
 * @param rows one object for each column, in Flink's internal data structures
 * @param options the options
 */
record CorpusTable(String name, RowType type, List<Object[]> rows, List<? extends FormatOptions> options) {
    static RowType columns(LogicalType... types) {
        return RowType.of(false, types, RowType.of(types).getFieldNames().toArray(new String[0]));
    }

    RowSource source() {
        Iterator<Object[]> remaining = rows.iterator();
        return new RowSource() {
            private long cells;

            @Override
            public boolean hasNext() {
                return remaining.hasNext();
            }

            @Override
            public GenericRowData next() {
                cells += type.getFieldCount();
                return GenericRowData.of(remaining.next());
            }

            @Override
            public long cells() {
                return cells;
            }
        };
    }
}
