package dev.penstock.flink.columns;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/** What {@link BatchReader} should find for a row, read through Flink's own getters. */
final class PlainValues {
    private PlainValues() {}

    static List<Object> of(RowData row, RowType type) {
        List<Object> out = new ArrayList<>();
        out.add(row.getRowKind().toByteValue());
        out.addAll(fields(row, type));
        return out;
    }

    private static List<Object> fields(RowData row, RowType type) {
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < type.getFieldCount(); i++) {
            LogicalType field = type.getTypeAt(i);
            out.add(row.isNullAt(i) ? null : plain(RowData.createFieldGetter(field, i).getFieldOrNull(row), field));
        }
        return out;
    }

    private static List<Object> elements(ArrayData array, LogicalType type) {
        ArrayData.ElementGetter getter = ArrayData.createElementGetter(type);
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            out.add(array.isNullAt(i) ? null : plain(getter.getElementOrNull(array, i), type));
        }
        return out;
    }

    private static Object plain(Object value, LogicalType type) {
        return switch (type.getTypeRoot()) {
            case CHAR, VARCHAR -> HexFormat.of().formatHex(((StringData) value).toBytes());
            case BINARY, VARBINARY -> HexFormat.of().formatHex((byte[]) value);
            case DECIMAL -> ((DecimalData) value).toBigDecimal().unscaledValue();
            case FLOAT -> Float.floatToRawIntBits((Float) value);
            case DOUBLE -> Double.doubleToRawLongBits((Double) value);
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    ((TimestampData) value).getMillisecond() + "+" + ((TimestampData) value).getNanoOfMillisecond();
            case ARRAY -> elements((ArrayData) value, type.getChildren().get(0));
            case MAP -> entries((MapData) value, type.getChildren().get(0), type.getChildren().get(1));
            case MULTISET -> entries((MapData) value, type.getChildren().get(0), new IntType(false));
            case ROW -> fields((RowData) value, (RowType) type);
            default -> value;
        };
    }

    private static List<Object> entries(MapData map, LogicalType key, LogicalType value) {
        List<Object> keys = elements(map.keyArray(), key);
        List<Object> values = elements(map.valueArray(), value);
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            out.add(Arrays.asList(keys.get(i), values.get(i)));
        }
        return out;
    }
}
