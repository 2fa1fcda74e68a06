package dev.penstock.flink.columns;

import dev.penstock.arena.vector.BytesVector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/** BINARY and VARBINARY, as long as the value is: Flink does not enforce the declared length by default. */
final class BinaryWriter extends ColumnWriter {
    private final BytesVector values;

    BinaryWriter(Column column) {
        this(column, new BytesVector(column.type().isNullable()));
    }

    private BinaryWriter(Column column, BytesVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        byte[] bytes = row.getBinary(field);
        return values.append(bytes, 0, bytes.length);
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        byte[] bytes = array.getBinary(index);
        return values.append(bytes, 0, bytes.length);
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return appendSlot(values, source, row, slot);
    }

    /** Values of up to seven bytes lie in the slot: bit 63 set, length in bits 56 to 62 (BinaryFormat of Flink). */
    static boolean appendSlot(BytesVector values, BinarySource source, int row, int slot) {
        long word = source.getLong(slot);
        if (word < 0) {
            return values.appendWord(word, (int) (word >>> 56) & 0x7f);
        }
        int at = row + offsetOf(word);
        int size = (int) word;
        return values.append(source.array(at, size), source.arrayStart(at), size);
    }
}
