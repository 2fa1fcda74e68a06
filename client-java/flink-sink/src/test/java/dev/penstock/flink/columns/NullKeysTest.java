package dev.penstock.flink.columns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.arena.Extent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

class NullKeysTest {

    private static final RowType TYPE =
            (RowType) DataTypes.ROW(DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())).notNull().getLogicalType();

    private static final GenericRowData BOXED = GenericRowData.of(new GenericMapData(Collections.singletonMap(null, 7)));

    private static RowData binary() {
        return new RowDataSerializer(TYPE).toBinaryRow(BOXED).copy();
    }

    private static Object key(RowData row, NullKeys nullKeys) {
        ByteBuffer segment = ByteBuffer.allocateDirect(1 << 14).order(ByteOrder.LITTLE_ENDIAN);
        RowColumnWriter writer = new RowColumnWriter(TYPE, column -> nullKeys);
        writer.begin(new Extent(1, segment, 0, 1 << 14));
        assertTrue(writer.append(row));
        List<List<Object>> rows = BatchReader.read(segment, 0, writer.finish(), TYPE);
        Object entry = ((List<?>) rows.get(0).get(1)).get(0);
        assertEquals(Arrays.asList(((List<?>) entry).get(0), 7), entry);
        return ((List<?>) entry).get(0);
    }

    /** What getString returns for a null: nothing for boxed keys, an empty string for binary ones. */
    @Test
    void asTextTheGetterDecides() {
        assertEquals(null, key(BOXED, NullKeys.AS_TEXT));
        assertEquals("", key(binary(), NullKeys.AS_TEXT));
    }

    @Test
    void nullsStayNulls() {
        assertEquals(null, key(BOXED, NullKeys.NULL));
        assertEquals(null, key(binary(), NullKeys.NULL));
    }
}
