package dev.penstock.flink.columns;

import dev.penstock.arena.vector.Vector;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;

/**
 * Writes the values of one field, or of the elements of a collection, into its vector. Every write returns false when a
 * quota is used up; the caller then rolls the whole row back, so a half-written nested value needs no care here.
 */
abstract class ColumnWriter {
    /** Name of the column for messages; nested parts as {@code a.b}, {@code a[]}, {@code a{key}}. */
    final String path;

    private final boolean nullable;
    private final Vector vector;

    ColumnWriter(Column column, Vector vector) {
        this.path = column.path();
        this.nullable = column.type().isNullable();
        this.vector = vector;
    }

    final Vector vector() {
        return vector;
    }

    /** Writes field {@code field} of any row. */
    final boolean write(RowData row, int field) {
        return row.isNullAt(field) ? writeNull() : writeValue(row, field);
    }

    /** Writes element {@code index} of any array. */
    final boolean write(ArrayData array, int index) {
        return array.isNullAt(index) ? writeNull() : writeValue(array, index);
    }

    /**
     * @throws RejectedRowException when the column is NOT NULL: with Flink's NOT NULL enforcer switched on such a row
     *     never comes here, and with it switched to DROP neither
     */
    final boolean writeNull() {
        if (!nullable) {
            throw new RejectedRowException(path, "null in a NOT NULL column");
        }
        return vector.appendNull();
    }

    /** Writes a field that is not null. */
    abstract boolean writeValue(RowData row, int field);

    /** Writes an element that is not null. */
    abstract boolean writeValue(ArrayData array, int index);

    /**
     * Writes a field that is not null straight from a binary row.
     *
     * @param row where the row begins: variable parts are addressed from there
     * @param slot where the field's eight bytes are
     */
    abstract boolean writeDirect(BinarySource source, int row, int slot);

    /** The upper half of a slot that points to a variable part: its distance from the start of the row. */
    static int offsetOf(long slot) {
        return (int) (slot >>> 32);
    }
}
