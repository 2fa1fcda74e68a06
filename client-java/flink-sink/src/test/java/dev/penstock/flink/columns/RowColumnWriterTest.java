package dev.penstock.flink.columns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import dev.penstock.proto.v1.Schema;
import dev.penstock.proto.v1.TypeRoot;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.data.utils.ProjectedRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;

class RowColumnWriterTest {
    private static final int OFFSET = 4096 + 128;
    private static final int CAPACITY = 1 << 18;

    private static final RowType ALL = type(
            DataTypes.BOOLEAN(), DataTypes.TINYINT(), DataTypes.SMALLINT(), DataTypes.INT(), DataTypes.BIGINT(),
            DataTypes.FLOAT(), DataTypes.DOUBLE(), DataTypes.DECIMAL(10, 2), DataTypes.DECIMAL(38, 10),
            DataTypes.STRING(), DataTypes.CHAR(3), DataTypes.BYTES(), DataTypes.BINARY(2), DataTypes.DATE(),
            DataTypes.TIME(3), DataTypes.TIMESTAMP(3), DataTypes.TIMESTAMP(9), DataTypes.TIMESTAMP_LTZ(6),
            DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()),
            DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)),
            DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.STRING())), DataTypes.ARRAY(DataTypes.INT().notNull()),
            DataTypes.MAP(DataTypes.STRING(), DataTypes.DECIMAL(20, 1)), DataTypes.MULTISET(DataTypes.STRING()),
            DataTypes.ROW(
                    DataTypes.FIELD("a", DataTypes.INT().notNull()),
                    DataTypes.FIELD("b", DataTypes.ROW(DataTypes.FIELD("c", DataTypes.STRING())))));

    private final ByteBuffer segment =
            ByteBuffer.allocateDirect(OFFSET + CAPACITY).order(ByteOrder.LITTLE_ENDIAN);

    private static RowType type(DataType... fields) {
        DataTypes.Field[] named = new DataTypes.Field[fields.length];
        for (int i = 0; i < fields.length; i++) {
            named[i] = DataTypes.FIELD("f" + i, fields[i]);
        }
        return (RowType) DataTypes.ROW(named).notNull().getLogicalType();
    }

    private Extent extent(int capacity) {
        return new Extent(1, segment, OFFSET, capacity);
    }

    private static StringData string(String s) {
        return StringData.fromString(s);
    }

    private static GenericArrayData array(Object... elements) {
        return new GenericArrayData(elements);
    }

    private static GenericMapData map(Object... entries) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put(entries[i], entries[i + 1]);
        }
        return new GenericMapData(map);
    }

    private static DecimalData decimal(String value, int precision) {
        BigDecimal number = new BigDecimal(value);
        return DecimalData.fromBigDecimal(number, precision, number.scale());
    }

    private static List<GenericRowData> allTypes() {
        GenericRowData nulls = new GenericRowData(ALL.getFieldCount());
        GenericRowData full = GenericRowData.of(
                true, (byte) -7, (short) -300, Integer.MIN_VALUE, Long.MAX_VALUE, Float.intBitsToFloat(0x7fc12345),
                -0.0d,
                decimal("-12345678.90", 10), decimal("-1234567890123456789012345678.0123456789", 38),
                string("a longer string with é and \uD83D\uDE00"), string("abcdef"),
                new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9},
                new byte[] {(byte) 0xff}, -719529, 86_399_999, TimestampData.fromEpochMillis(-1),
                TimestampData.fromEpochMillis(1_700_000_000_123L, 456_789), TimestampData.fromEpochMillis(1, 999_000),
                -14, -86_400_000_001L, array(array(string("x"), null, string("12345678")), null, array()),
                array(1, 2, 3), map(string("k"), decimal("1.5", 20), null, null), map(string("m"), 2, null, 1),
                GenericRowData.of(5, GenericRowData.of(string("deep inside"))));
        GenericRowData empties = GenericRowData.of(
                false, (byte) 0, (short) 0, 0, 0L, 0f, 0d, decimal("-0.01", 10), decimal("-0.0000000001", 38),
                string(""),
                string("1234567"), new byte[0], new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, 0, 0,
                TimestampData.fromEpochMillis(Long.MIN_VALUE), TimestampData.fromEpochMillis(0),
                TimestampData.fromEpochMillis(0),
                0, 0L, array(), array(), map(), map(), GenericRowData.of(-1, null));
        full.setRowKind(RowKind.UPDATE_AFTER);
        empties.setRowKind(RowKind.DELETE);
        List<GenericRowData> rows = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            rows.addAll(List.of(full, nulls, empties, empties, nulls, full, full));
        }
        return rows;
    }

    private void assertWritten(RowType type, List<? extends RowData> rows) {
        RowColumnWriter writer = new RowColumnWriter(type);
        writer.begin(extent(CAPACITY));
        List<List<Object>> expected = new ArrayList<>();
        for (RowData row : rows) {
            assertTrue(writer.append(row));
            expected.add(PlainValues.of(row, type));
        }
        assertEquals(rows.size(), writer.rowCount());
        assertEquals(expected, BatchReader.read(segment, OFFSET, writer.finish(), type));
    }

    private static BinaryRowData binary(RowType type, RowData row) {
        return new RowDataSerializer(type).toBinaryRow(row).copy();
    }

    @Test
    void genericRows() {
        assertWritten(ALL, allTypes());
    }

    @Test
    void binaryRows() {
        assertWritten(ALL, allTypes().stream().map(row -> binary(ALL, row)).toList());
    }

    @Test
    void binaryRowsOffHeapAndNotAtTheStart() {
        assertWritten(ALL, allTypes().stream().map(row -> {
            BinaryRowData heap = binary(ALL, row);
            MemorySegment memory = MemorySegmentFactory.allocateUnpooledOffHeapMemory(40 + heap.getSizeInBytes());
            heap.getSegments()[0].copyTo(0, memory, 40, heap.getSizeInBytes());
            BinaryRowData moved = new BinaryRowData(heap.getArity());
            moved.pointTo(memory, 40, heap.getSizeInBytes());
            return moved;
        }).toList());
    }

    @Test
    void binaryRowsOverSeveralSegments() {
        assertWritten(ALL, allTypes().stream().map(row -> {
            BinaryRowData heap = binary(ALL, row);
            MemorySegment[] parts = new MemorySegment[(heap.getSizeInBytes() + 255) / 256];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = MemorySegmentFactory.wrap(new byte[256]);
                heap.getSegments()[0].copyTo(
                        256 * i, parts[i], 0, Math.min(256, heap.getSizeInBytes() - 256 * i));
            }
            BinaryRowData split = new BinaryRowData(heap.getArity());
            split.pointTo(parts, 0, heap.getSizeInBytes());
            return split;
        }).toList());
    }

    @Test
    void joinedAndProjectedRows() {
        RowType type = type(DataTypes.STRING(), DataTypes.INT(), DataTypes.STRING());
        RowData left = GenericRowData.of(string("left"), 1);
        RowData right = binary(type(DataTypes.STRING()), GenericRowData.of(string("right")));
        ProjectedRowData projected = ProjectedRowData.from(new int[] {2, 0, 1});
        RowData wide = GenericRowData.of(7, string("c"), string("a"));
        assertWritten(type, List.of(
                new JoinedRowData(RowKind.UPDATE_BEFORE, left, right), projected.replaceRow(wide)));
    }

    @Test
    void manyFieldsUseManyNullBits() {
        DataType[] fields = new DataType[130];
        Arrays.fill(fields, DataTypes.INT());
        RowType type = type(fields);
        GenericRowData row = new GenericRowData(fields.length);
        for (int i = 0; i < fields.length; i += 3) {
            row.setField(i, i);
        }
        assertWritten(type, List.of(binary(type, row), row));
    }

    @Test
    void nanosecondsBeyondTheDeclaredPrecisionAreKept() {
        RowType type = type(DataTypes.TIMESTAMP(0));
        assertWritten(type, List.of(GenericRowData.of(TimestampData.fromEpochMillis(1999, 123_456))));
    }

    @Test
    void bytesThatAreNotUtf8AreKept() {
        RowType type = type(DataTypes.STRING());
        byte[] broken = {(byte) 0xed, (byte) 0xa0, (byte) 0x80, 'a', (byte) 0xff};
        StringData decoded = StringData.fromBytes(broken);
        assertEquals("\ufffda\ufffd", decoded.toString());
        assertWritten(type, List.of(
                GenericRowData.of(StringData.fromBytes(broken)),
                GenericRowData.of(decoded), // its String is a lossy copy by now
                binary(type, GenericRowData.of(StringData.fromBytes(broken)))));
    }

    @Test
    void longStringsOfEveryUtf8Length() {
        RowType type = type(DataTypes.STRING());
        String text = "ascii é ß \u07ff\u0800\uffff \uD800\uDC00\uDBFF\uDFFF 漢字".repeat(500);
        assertWritten(type, List.of(GenericRowData.of(string(text)), GenericRowData.of(string("x".repeat(3000)))));
    }

    private void assertRejected(RowType type, RowData good, RowData bad, String column, String problem) {
        RowColumnWriter writer = new RowColumnWriter(type);
        writer.begin(extent(CAPACITY));
        for (RowData first : new RowData[] {bad, good, bad, good}) {
            if (first == good) {
                assertTrue(writer.append(good));
                continue;
            }
            RejectedRowException e = assertThrows(RejectedRowException.class, () -> writer.append(bad));
            assertTrue(e.getMessage().startsWith("column '" + column + "': ") && e.getMessage().contains(problem),
                    e.getMessage());
        }
        List<Object> expected = PlainValues.of(good, type);
        assertEquals(List.of(expected, expected), BatchReader.read(segment, OFFSET, writer.finish(), type));
    }

    @Test
    void aNullInANotNullColumnIsRejectedAndNamed() {
        RowType type = type(DataTypes.STRING(), DataTypes.ROW(DataTypes.FIELD("b", DataTypes.INT().notNull())),
                DataTypes.ARRAY(DataTypes.INT().notNull()));
        RowData good = GenericRowData.of(string("good"), GenericRowData.of(1), array(1));
        assertRejected(type, good, GenericRowData.of(string("bad"), GenericRowData.of((Object) null), array()),
                "f1.b", "null in a NOT NULL column");
        assertRejected(type, good, GenericRowData.of(string("bad"), GenericRowData.of(2), array(1, null)),
                "f2[]", "null in a NOT NULL column");
    }

    @Test
    void halfASurrogatePairIsRejectedAndNamed() {
        RowType type = type(DataTypes.STRING(), DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()));
        RowData good = GenericRowData.of(string("ok \uD83D\uDE00"), map(string("?"), 1));
        assertRejected(type, good, GenericRowData.of(string("x\uD83D"), null), "f0", "half of a surrogate pair");
        assertRejected(type, good, GenericRowData.of(string("\uDE00\uD83D"), null), "f0", "U+DE00 at index 0");
        StringData materialized = string("é\uD83Dx");
        materialized.toBytes(); // its bytes say '?', its String does not
        assertRejected(type, good, GenericRowData.of(null, map(materialized, 1)), "f1{key}", "half of a surrogate");
    }

    @Test
    void aDecimalOfAnotherScaleIsRejected() {
        assertRejected(type(DataTypes.DECIMAL(10, 2)), GenericRowData.of(decimal("1.00", 10)),
                GenericRowData.of(decimal("1.000", 10)), "f0", "has scale 3, the column has 2");
    }

    @Test
    void aRowThatDoesNotFitLeavesTheBatchAsItWas() {
        List<GenericRowData> rows = allTypes();
        RowColumnWriter writer = new RowColumnWriter(ALL);
        for (int capacity = 8192; capacity <= 32768; capacity += 64) {
            writer.begin(extent(capacity));
            List<List<Object>> expected = new ArrayList<>();
            int i = 0;
            while (writer.append(rows.get(i % rows.size()))) {
                expected.add(PlainValues.of(rows.get(i++ % rows.size()), ALL));
            }
            assertFalse(writer.append(rows.get(i % rows.size())), "a second try");
            int body = writer.finish();
            assertTrue(body <= capacity && body % 64 == 0, body + " of " + capacity);
            assertEquals(expected, BatchReader.read(segment, OFFSET, body, ALL));
        }
    }

    @Test
    void minimumExtentBytesIsExact() {
        RowColumnWriter writer = new RowColumnWriter(ALL);
        for (RowData row : allTypes()) {
            int minimum = writer.minimumExtentBytes(row);
            writer.begin(extent(minimum - 64));
            assertFalse(writer.append(row));
            assertEquals(0, writer.rowCount());
            writer.begin(extent(minimum));
            assertTrue(writer.append(row));
            assertEquals(List.of(PlainValues.of(row, ALL)), BatchReader.read(segment, OFFSET, writer.finish(), ALL));
        }
    }

    @Test
    void aHugeRowAfterSmallOnesFitsAndMinimumLeavesTheOpenBatchAlone() {
        RowType type = type(DataTypes.STRING(), DataTypes.STRING());
        RowColumnWriter writer = new RowColumnWriter(type);
        RowData small = GenericRowData.of(string("a"), string("b"));
        RowData huge = GenericRowData.of(string("c"), string("x".repeat(CAPACITY - 2048)));
        for (int i = 0; i < 3; i++) {
            writer.begin(extent(CAPACITY));
            assertTrue(writer.append(small));
            assertTrue(writer.minimumExtentBytes(huge) <= CAPACITY);
            assertFalse(writer.append(huge));
            assertEquals(List.of(PlainValues.of(small, type)),
                    BatchReader.read(segment, OFFSET, writer.finish(), type));
            writer.begin(extent(CAPACITY));
            assertTrue(writer.append(huge));
            writer.finish();
        }
    }

    @Test
    void schemaDescribesEveryColumn() throws Exception {
        Schema schema = RowColumnWriter.toSchema(ALL);
        assertEquals(TypeRoot.ROW, schema.getRow().getRoot());
        assertEquals(ALL.getFieldNames(), schema.getRow().getFieldNamesList());
        assertEquals(38, schema.getRow().getChildren(8).getPrecision());
        assertEquals(10, schema.getRow().getChildren(8).getScale());
        assertEquals(TypeRoot.TIMESTAMP_LTZ, schema.getRow().getChildren(17).getRoot());
        assertEquals(6, schema.getRow().getChildren(17).getPrecision());
        assertFalse(schema.getRow().getChildren(21).getChildren(0).getNullable());
        assertEquals(2, schema.getRow().getChildren(22).getChildrenCount());
        assertEquals(List.of("a", "b"), schema.getRow().getChildren(24).getFieldNamesList());
    }

    @Test
    void aTypeWithoutLayoutIsNamed() {
        RowType type = type(DataTypes.INT(), DataTypes.ARRAY(DataTypes.TIMESTAMP_WITH_TIME_ZONE(3)));
        UnsupportedTypeException e = assertThrows(UnsupportedTypeException.class, () -> RowColumnWriter.toSchema(type));
        assertEquals("column 'f1[]' has type TIMESTAMP(3) WITH TIME ZONE, which has no column layout", e.reason());
        assertThrows(IllegalArgumentException.class, () -> new RowColumnWriter(type));
    }

    @Test
    void schemaTagsTellTypesApart() {
        int tag = new RowColumnWriter(ALL).schemaTag();
        assertEquals(tag, new RowColumnWriter(ALL).schemaTag());
        assertNotEquals(tag, new RowColumnWriter(type(DataTypes.INT())).schemaTag());
        assertNotEquals(0, tag);
    }
}
