package dev.penstock.flink.columns;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;

/** Builds the writers of a row type; the table of types is that of {@code shm/LAYOUT.md}. */
final class ColumnFactory {
    private final NullKeys nullKeys;

    private ColumnFactory(NullKeys nullKeys) {
        this.nullKeys = nullKeys;
    }

    /**
     * The fields of a row.
     *
     * @param nullKeys for each field what null keys of its maps are
     */
    static RowFields fields(RowType type, IntFunction<NullKeys> nullKeys) throws UnsupportedTypeException {
        Column row = new Column("", type);
        List<ColumnWriter> writers = new ArrayList<>();
        for (int i = 0; i < type.getFieldCount(); i++) {
            RowType.RowField field = type.getFields().get(i);
            writers.add(new ColumnFactory(nullKeys.apply(i)).writer(row.field(field.getName(), field.getType())));
        }
        return new RowFields(writers);
    }

    private RowFields fields(Column parent, RowType type) throws UnsupportedTypeException {
        List<ColumnWriter> writers = new ArrayList<>();
        for (RowType.RowField field : type.getFields()) {
            writers.add(writer(parent.field(field.getName(), field.getType())));
        }
        return new RowFields(writers);
    }

    private ColumnWriter writer(Column column) throws UnsupportedTypeException {
        LogicalType type = column.type();
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> new BooleanWriter(column);
            case TINYINT -> new TinyIntWriter(column);
            case SMALLINT -> new SmallIntWriter(column);
            case INTEGER, DATE, TIME_WITHOUT_TIME_ZONE, INTERVAL_YEAR_MONTH -> new IntWriter(column);
            case BIGINT, INTERVAL_DAY_TIME -> new BigIntWriter(column);
            case FLOAT -> new FloatWriter(column);
            case DOUBLE -> new DoubleWriter(column);
            case DECIMAL -> new DecimalWriter(column);
            case CHAR, VARCHAR -> new StringWriter(column);
            case BINARY, VARBINARY -> new BinaryWriter(column);
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> new TimestampWriter(column);
            case NULL -> new NullWriter(column);
            case ARRAY -> new ArrayWriter(column, writer(column.part("[]", ((ArrayType) type).getElementType())));
            case MAP -> new MapWriter(
                    column,
                    writer(column.part("{key}", ((MapType) type).getKeyType())),
                    writer(column.part("{value}", ((MapType) type).getValueType())),
                    nullKeys);
            case MULTISET -> new MapWriter(
                    column,
                    writer(column.part("{element}", ((MultisetType) type).getElementType())),
                    new IntWriter(column.part("{count}", new IntType(false))),
                    nullKeys);
            case ROW -> new RowWriter(column, fields(column, (RowType) type));
            default -> throw new UnsupportedTypeException("column '" + column.path() + "' has type "
                    + type.asSummaryString() + ", which has no column layout");
        };
    }
}
