package dev.penstock.flink.columns;

import dev.penstock.proto.v1.OpenWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;

/**
 * NOT NULL inside of columns. Flink's enforcer looks at whole columns only, so that a null can stand in a NOT NULL field of
 * a ROW; there every format but avro's, whose schemas have unions, writes what it writes for any null.
 *
 * <p>Not so json in Flink 2.0. It reads by Flink's getters, which did not look for a null in what is NOT NULL then: for a
 * number they throw, and from a binary row they return its zeros. NOT NULL stays there, so that such a row is refused.
 */
public final class Nullability {
    /** Whether Flink's getters look for a null in a NOT NULL field. The formats of this process read by them. */
    private static final boolean GETTERS_LOOK_FOR_NULLS = gettersLookForNulls();

    private Nullability() {}

    private static boolean gettersLookForNulls() {
        try {
            RowData.createFieldGetter(new IntType(false), 0).getFieldOrNull(new GenericRowData(1));
            return true;
        } catch (NullPointerException e) {
            return false;
        }
    }

    /**
     * The type of the columns of a writer: without NOT NULL in columns where it makes no difference to the formats.
     *
     * @param type of the rows
     * @param open says which columns are in key and value, and their formats
     */
    public static RowType columns(RowType type, OpenWriter open) {
        return columns(type, open, GETTERS_LOOK_FOR_NULLS);
    }

    static RowType columns(RowType type, OpenWriter open, boolean gettersLookForNulls) {
        List<RowType.RowField> fields = new ArrayList<>();
        for (int i = 0; i < type.getFieldCount(); i++) {
            RowType.RowField field = type.getFields().get(i);
            ColumnParts parts = ColumnParts.of(open, i);
            boolean counts = parts.avro() || parts.json() && !gettersLookForNulls;
            // Other columns are metadata, which no format writes.
            fields.add(counts || !parts.key() && !parts.value() ? field : nullable(field));
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
