package dev.penstock.flink.columns;

import dev.penstock.arena.vector.FixedVector;
import dev.penstock.arena.vector.StructVector;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * TIMESTAMP and TIMESTAMP_LTZ as milliseconds and nanoseconds of the millisecond. Nothing is rounded to the declared
 * precision: a boxed value may hold more digits, and Flink's formats print them all.
 */
final class TimestampWriter extends ColumnWriter {
    private final FixedVector millis;
    private final FixedVector nanos;
    private final StructVector struct;
    private final int precision;

    /** Whether binary rows hold the milliseconds in the slot itself, and no nanoseconds. */
    private final boolean compact;

    TimestampWriter(Column column) {
        this(column, new FixedVector(8, false), new FixedVector(4, false));
    }

    private TimestampWriter(Column column, FixedVector millis, FixedVector nanos) {
        this(column, millis, nanos, new StructVector(List.of(millis, nanos), column.type().isNullable()));
    }

    private TimestampWriter(Column column, FixedVector millis, FixedVector nanos, StructVector struct) {
        super(column, struct);
        this.millis = millis;
        this.nanos = nanos;
        this.struct = struct;
        this.precision = LogicalTypeChecks.getPrecision(column.type());
        this.compact = TimestampData.isCompact(precision);
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return append(row.getTimestamp(field, precision));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return append(array.getTimestamp(index, precision));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        long word = source.getLong(slot);
        return compact ? append(word, 0) : append(source.getLong(row + offsetOf(word)), (int) word);
    }

    private boolean append(TimestampData value) {
        return append(value.getMillisecond(), value.getNanoOfMillisecond());
    }

    private boolean append(long ms, int nanosOfMs) {
        return millis.append(ms) && nanos.append(nanosOfMs) && struct.append();
    }
}
