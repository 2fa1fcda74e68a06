package dev.penstock.flink.columns;

import dev.penstock.arena.vector.ListVector;
import dev.penstock.arena.vector.StructVector;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryMapData;

/** MAP and MULTISET: entries in the map's own order, duplicate keys included, and null keys as {@link NullKeys} says. */
final class MapWriter extends ColumnWriter {
    private final ListVector lists;
    private final StructVector entries;
    private final ColumnWriter key;
    private final ColumnWriter value;
    private final NullKeys nullKeys;
    private final BinaryMapData view = new BinaryMapData();

    MapWriter(Column column, ColumnWriter key, ColumnWriter value, NullKeys nullKeys) {
        this(column, key, value, nullKeys, new StructVector(List.of(key.vector(), value.vector()), false));
    }

    private MapWriter(
            Column column, ColumnWriter key, ColumnWriter value, NullKeys nullKeys, StructVector entries) {
        this(column, key, value, nullKeys, entries, new ListVector(entries, column.type().isNullable()));
    }

    private MapWriter(
            Column column,
            ColumnWriter key,
            ColumnWriter value,
            NullKeys nullKeys,
            StructVector entries,
            ListVector lists) {
        super(column, lists);
        this.lists = lists;
        this.entries = entries;
        this.key = key;
        this.value = value;
        this.nullKeys = nullKeys;
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
            if (!writeKey(keys, i) || !value.write(values, i) || !entries.append()) {
                return false;
            }
        }
        return lists.append();
    }

    private boolean writeKey(ArrayData keys, int i) {
        if (nullKeys == NullKeys.AS_TEXT && keys.isNullAt(i)) {
            return key.write(new GenericArrayData(new Object[] {keys.getString(i)}), 0);
        }
        return key.write(keys, i);
    }
}
