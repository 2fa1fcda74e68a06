package dev.penstock.flink.columns;

import dev.penstock.arena.vector.ListVector;
import dev.penstock.arena.vector.StructVector;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryMapData;

/** MAP and MULTISET: entries in the map's own order, duplicate and null keys included. */
final class MapWriter extends ColumnWriter {
    private final ListVector lists;
    private final StructVector entries;
    private final ColumnWriter key;
    private final ColumnWriter value;
    private final BinaryMapData view = new BinaryMapData();

    MapWriter(Column column, ColumnWriter key, ColumnWriter value) {
        this(column, key, value, new StructVector(List.of(key.vector(), value.vector()), false));
    }

    private MapWriter(Column column, ColumnWriter key, ColumnWriter value, StructVector entries) {
        this(column, key, value, entries, new ListVector(entries, column.type().isNullable()));
    }

    private MapWriter(Column column, ColumnWriter key, ColumnWriter value, StructVector entries, ListVector lists) {
        super(column, lists);
        this.lists = lists;
        this.entries = entries;
        this.key = key;
        this.value = value;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return append(row.getMap(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return append(array.getMap(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        long word = source.getLong(slot);
        view.pointTo(source.segments(), row + offsetOf(word), (int) word);
        return append(view);
    }

    private boolean append(MapData map) {
        ArrayData keys = map.keyArray();
        ArrayData values = map.valueArray();
        int n = map.size();
        for (int i = 0; i < n; i++) {
            if (!key.write(keys, i) || !value.write(values, i) || !entries.append()) {
                return false;
            }
        }
        return lists.append();
    }
}
