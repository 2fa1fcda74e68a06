package dev.penstock.flink.columns;

import dev.penstock.arena.vector.ListVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryArrayData;

/** ARRAY: the elements into the child, then the offset. */
final class ArrayWriter extends ColumnWriter {
    private final ListVector lists;
    private final ColumnWriter element;
    private final BinaryArrayData view = new BinaryArrayData();

    ArrayWriter(Column column, ColumnWriter element) {
        this(column, element, new ListVector(element.vector(), column.type().isNullable()));
    }

    private ArrayWriter(Column column, ColumnWriter element, ListVector lists) {
        super(column, lists);
        this.lists = lists;
        this.element = element;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return append(row.getArray(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return append(array.getArray(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        long word = source.getLong(slot);
        view.pointTo(source.segments(), row + offsetOf(word), (int) word);
        return append(view);
    }

    private boolean append(ArrayData array) {
        int n = array.size();
        for (int i = 0; i < n; i++) {
            if (!element.write(array, i)) {
                return false;
            }
        }
        return lists.append();
    }
}
