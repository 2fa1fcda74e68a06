package dev.penstock.flink.columns;

import dev.penstock.proto.v1.OpenWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;

/**
 * NOT NULL inside of columns. Flink's enforcer looks at whole columns only, so that a null can stand in a NOT NULL field of
 * a ROW; there every format but avro's, whose schemas have unions, writes what it writes for any null.
 */
public final class Nullability {
    private Nullability() {}

    /**
     * The type of the columns of a writer: without NOT NULL in columns whose formats do not look at it.
     *
     * @param type of the rows
     * @param open says which columns are in key and value, and their formats
     */
    public static RowType columns(RowType type, OpenWriter open) {
        List<RowType.RowField> fields = new ArrayList<>();
        for (int i = 0; i < type.getFieldCount(); i++) {
            RowType.RowField field = type.getFields().get(i);
            ColumnParts parts = ColumnParts.of(open, i);
            // Other columns are metadata, which no format writes.
            fields.add(parts.avro() || !parts.key() && !parts.value() ? field : nullable(field));
        }
        return new RowType(type.isNullable(), fields);
    }

    private static RowType.RowField nullable(RowType.RowField field) {
        return new RowType.RowField(field.getName(), nullable(field.getType()));
    }

    private static LogicalType nullable(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case ARRAY -> new ArrayType(nullable(((ArrayType) type).getElementType()));
            case MULTISET -> new MultisetType(nullable(((MultisetType) type).getElementType()));
            case MAP -> new MapType(nullable(((MapType) type).getKeyType()), nullable(((MapType) type).getValueType()));
            case ROW -> new RowType(((RowType) type).getFields().stream().map(Nullability::nullable).toList());
            default -> type.copy(true);
        };
    }
}
