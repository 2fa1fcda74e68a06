package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import java.math.BigInteger;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.DecimalType;

/** DECIMAL as the unscaled value in 128 bits; the scale is that of the column. */
final class DecimalWriter extends ColumnWriter {
    private static final int WIDTH = 16;

    private final FixedVector values;
    private final int precision;
    private final int scale;

    /** Whether binary rows hold the unscaled value in the slot itself. */
    private final boolean compact;

    DecimalWriter(Column column) {
        this(column, new FixedVector(WIDTH, column.type().isNullable()));
    }

    private DecimalWriter(Column column, FixedVector values) {
        super(column, values);
        this.values = values;
        DecimalType type = (DecimalType) column.type();
        this.precision = type.getPrecision();
        this.scale = type.getScale();
        this.compact = DecimalData.isCompact(precision);
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return append(row.getDecimal(field, precision, scale));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return append(array.getDecimal(index, precision, scale));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        long word = source.getLong(slot);
        if (compact) {
            return append(word);
        }
        int at = row + offsetOf(word);
        int size = (int) word;
        return append(source.array(at, size), source.arrayStart(at), size);
    }

    private boolean append(DecimalData decimal) {
        // A boxed row may carry a decimal of another scale than the column's; Flink's formats print it as it is.
        if (decimal.scale() != scale) {
            throw new RejectedRowException(path, "value " + decimal + " has scale " + decimal.scale()
                    + ", the column has " + scale + "; cast the value to the column's type");
        }
        if (decimal.isCompact()) {
            return append(decimal.toUnscaledLong());
        }
        BigInteger unscaled = decimal.toBigDecimal().unscaledValue();
        if (unscaled.bitLength() > 127) {
            throw new RejectedRowException(path, "value " + decimal + " has more than 38 digits");
        }
        return values.append(unscaled.longValue(), unscaled.shiftRight(64).longValue());
    }

    private boolean append(long unscaled) {
        return values.append(unscaled, unscaled >> 63);
    }

    /** Appends a big-endian two's complement number of 1 to 16 bytes, as BigInteger.toByteArray makes it. */
    private boolean append(byte[] bytes, int from, int size) {
        if (size < 1 || size > WIDTH) {
            throw new RejectedRowException(path, "the row holds a decimal of " + size + " bytes, which has 1 to 16");
        }
        long high = bytes[from] >> 7;
        long low = high;
        for (int i = from; i < from + size; i++) {
            high = high << 8 | low >>> 56;
            low = low << 8 | bytes[i] & 0xff;
        }
        return values.append(low, high);
    }
}
