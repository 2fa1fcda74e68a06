package dev.penstock.flink.columns;

import dev.penstock.proto.v1.LogicalType;
import dev.penstock.proto.v1.Schema;
import dev.penstock.proto.v1.TypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** Translates Flink's row types to the schema message. */
final class SchemaTranslator {
    private SchemaTranslator() {}

    static Schema translate(RowType type) throws UnsupportedTypeException {
        return Schema.newBuilder().setRow(translate(new Column("", type))).build();
    }

    private static LogicalType translate(Column column) throws UnsupportedTypeException {
        org.apache.flink.table.types.logical.LogicalType type = column.type();
        TypeRoot root = root(column);
        LogicalType.Builder out = LogicalType.newBuilder().setRoot(root).setNullable(type.isNullable());
        switch (root) {
            case DECIMAL -> out.setPrecision(LogicalTypeChecks.getPrecision(type))
                    .setScale(LogicalTypeChecks.getScale(type));
            case TIME, TIMESTAMP, TIMESTAMP_LTZ -> out.setPrecision(LogicalTypeChecks.getPrecision(type));
            case ARRAY -> out.addChildren(translate(column.part("[]", type.getChildren().get(0))));
            case MAP -> out.addChildren(translate(column.part("{key}", type.getChildren().get(0))))
                    .addChildren(translate(column.part("{value}", type.getChildren().get(1))));
            case MULTISET -> out.addChildren(translate(column.part("{element}", type.getChildren().get(0))));
            case ROW -> {
                for (RowType.RowField field : ((RowType) type).getFields()) {
                    out.addFieldNames(field.getName())
                            .addChildren(translate(column.field(field.getName(), field.getType())));
                }
            }
            default -> { }
        }
        return out.build();
    }

    private static TypeRoot root(Column column) throws UnsupportedTypeException {
        return switch (column.type().getTypeRoot()) {
            case BOOLEAN -> TypeRoot.BOOLEAN;
            case TINYINT -> TypeRoot.TINYINT;
            case SMALLINT -> TypeRoot.SMALLINT;
            case INTEGER -> TypeRoot.INTEGER;
            case BIGINT -> TypeRoot.BIGINT;
            case FLOAT -> TypeRoot.FLOAT;
            case DOUBLE -> TypeRoot.DOUBLE;
            case DECIMAL -> TypeRoot.DECIMAL;
            case CHAR -> TypeRoot.CHAR;
            case VARCHAR -> TypeRoot.VARCHAR;
            case BINARY -> TypeRoot.BINARY;
            case VARBINARY -> TypeRoot.VARBINARY;
            case DATE -> TypeRoot.DATE;
            case TIME_WITHOUT_TIME_ZONE -> TypeRoot.TIME;
            case TIMESTAMP_WITHOUT_TIME_ZONE -> TypeRoot.TIMESTAMP;
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> TypeRoot.TIMESTAMP_LTZ;
            case INTERVAL_YEAR_MONTH -> TypeRoot.INTERVAL_YEAR_MONTH;
            case INTERVAL_DAY_TIME -> TypeRoot.INTERVAL_DAY_TIME;
            case ARRAY -> TypeRoot.ARRAY;
            case MAP -> TypeRoot.MAP;
            case MULTISET -> TypeRoot.MULTISET;
            case ROW -> TypeRoot.ROW;
            case NULL -> TypeRoot.NULL_TYPE;
            default -> throw new UnsupportedTypeException("column '" + column.path() + "' has type "
                    + column.type().asSummaryString() + ", which has no column layout");
        };
    }
}
