package dev.penstock.flink.columns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.ChangelogJsonFormat;
import dev.penstock.proto.v1.CsvFormat;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.RecordShape;
import java.util.List;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

class NullabilityTest {
    @Test
    void dropsNotNullAtEveryDepth() {
        assertEquals(
                "ROW<`i` INT, `r` ROW<`a` ARRAY<CHAR(3)>>, `m` MAP<VARCHAR(4), ROW<`d` DECIMAL(5, 2)>>,"
                        + " `s` MULTISET<BIGINT>> NOT NULL",
                Nullability.columns((RowType) DataTypes.ROW(
                        DataTypes.FIELD("i", DataTypes.INT().notNull()),
                        DataTypes.FIELD("r", DataTypes.ROW(
                                DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.CHAR(3).notNull()).notNull())).notNull()),
                        DataTypes.FIELD("m", DataTypes.MAP(DataTypes.VARCHAR(4).notNull(), DataTypes.ROW(
                                DataTypes.FIELD("d", DataTypes.DECIMAL(5, 2).notNull())).notNull()).notNull()),
                        DataTypes.FIELD("s", DataTypes.MULTISET(DataTypes.BIGINT().notNull()).notNull()))
                        .notNull().getLogicalType(), OpenWriter.getDefaultInstance()).asSerializableString());
    }

    @Test
    void keepsNotNullInColumnsOfAvroAndOfNoFormat() {
        LogicalType full = new IntType(false);
        Format avro = Format.newBuilder().setAvro(AvroFormat.getDefaultInstance()).build();
        Format json = Format.newBuilder().setJson(JsonFormat.getDefaultInstance()).build();
        RowType type = RowType.of(false, full, full, full, full);
        // Columns: key, both, value, metadata.
        RecordShape shape = RecordShape.newBuilder().setKeyFormat(avro)
                .addAllKeyColumns(List.of(0, 1)).addAllValueColumns(List.of(1, 2)).build();
        OpenWriter open = OpenWriter.newBuilder().setValueFormat(json).setShape(shape).build();
        assertEquals(List.of(false, false, true, false), nullable(type, open));
        OpenWriter alone = OpenWriter.newBuilder().setValueFormat(avro).build();
        assertEquals(List.of(false, false, false, false), nullable(type, alone));
    }

    /** As in Flink 2.0; csv and raw look for nulls themselves. */
    @Test
    void keepsNotNullInColumnsOfJsonWhereGettersDoNotLook() {
        LogicalType full = new IntType(false);
        RowType type = RowType.of(false, full, RowType.of(full));
        Format json = Format.newBuilder().setJson(JsonFormat.getDefaultInstance()).build();
        Format wrapped = Format.newBuilder().setChangelogJson(ChangelogJsonFormat.getDefaultInstance()).build();
        Format csv = Format.newBuilder().setCsv(CsvFormat.getDefaultInstance()).build();
        RowType dropped = RowType.of(false, new IntType(), RowType.of(new IntType()));
        for (Format format : List.of(json, wrapped)) {
            OpenWriter open = OpenWriter.newBuilder().setValueFormat(format).build();
            assertEquals(type, Nullability.columns(type, open, false));
            assertEquals(dropped, Nullability.columns(type, open, true));
        }
        assertEquals(dropped, Nullability.columns(type, OpenWriter.newBuilder().setValueFormat(csv).build(), false));
        RecordShape shape = RecordShape.newBuilder().setKeyFormat(json).addKeyColumns(0).addValueColumns(1).build();
        OpenWriter keyed = OpenWriter.newBuilder().setValueFormat(csv).setShape(shape).build();
        assertEquals(RowType.of(false, full, RowType.of(new IntType())), Nullability.columns(type, keyed, false));
    }

    private static List<Boolean> nullable(RowType type, OpenWriter open) {
        return Nullability.columns(type, open, true).getChildren().stream().map(LogicalType::isNullable).toList();
    }
}
