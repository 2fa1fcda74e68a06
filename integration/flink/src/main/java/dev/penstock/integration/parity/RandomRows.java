package dev.penstock.integration.parity;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/** Random rows of a type, in Flink's internal data structures, dense in edge cases. Counts the leaf values it makes. */
final class RandomRows {
    private static final long[] DOUBLES = {
        0x44B52D02C7E14AF6L, 0x44C52D02C7E14AF6L, 0x447C7E83209E90B2L, 0x7BE0000000000000L, 1, 2, 0xC53D77CE317C4557L,
        0x0010000000000000L, 0x000FFFFFFFFFFFFFL, 0x7FEFFFFFFFFFFFFFL, 0x8000000000000000L, 0, 0x7FF0000000000000L,
        0xFFF0000000000000L, 0x7FF8000000000001L, 0x3FF0000000000000L, 0x4340000000000000L, 0x43E0000000000000L
    };
    private static final int[] FLOATS = {
        0x6A3D4C5A, 0x4CEB79A2, 0x69000000, 0x7E800000, 1, 2, 0x00800000, 0x007FFFFF, 0x7F7FFFFF, 0x80000000, 0,
        0x7F800000, 0xFF800000, 0x7FC00001, 0x3F800000, 0x4B800000
    };
    private static final int[] DATES = {
        0, -1, 1, 2932896, 2932897, -719528, -719529, -719163, Integer.MIN_VALUE, Integer.MAX_VALUE, 11016, -25509
    };
    private static final int DAY_MILLIS = 86_400_000;

    private final SplittableRandom random;
    private final RandomStrings strings;
    private long cells;
    private boolean inLargeMap;

    RandomRows(SplittableRandom random) {
        this.random = random;
        this.strings = new RandomStrings(random);
    }

    /** A number of rows of a type. */
    RowSource source(RowType type, int count) {
        return new RowSource() {
            private int done;

            @Override
            public boolean hasNext() {
                return done < count;
            }

            @Override
            public GenericRowData next() {
                done++;
                return row(type);
            }

            @Override
            public long cells() {
                return cells;
            }
        };
    }

    private GenericRowData row(RowType type) {
        List<LogicalType> types = type.getChildren();
        GenericRowData row = new GenericRowData(types.size());
        for (int i = 0; i < types.size(); i++) {
            row.setField(i, value(types.get(i)));
        }
        return row;
    }

    private Object value(LogicalType type) {
        if (type.is(LogicalTypeRoot.NULL) || type.isNullable() && random.nextInt(8) == 0) {
            cells++;
            return null;
        }
        return switch (type.getTypeRoot()) {
            case ROW -> row((RowType) type);
            case ARRAY -> array(type.getChildren().get(0), size());
            case MAP -> map(type.getChildren().get(0), type.getChildren().get(1));
            case MULTISET -> map(type.getChildren().get(0), new IntType(false));
            default -> leaf(type);
        };
    }

    private Object leaf(LogicalType type) {
        cells++;
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> random.nextBoolean();
            case TINYINT -> (byte) number(7);
            case SMALLINT -> (short) number(15);
            case INTEGER, INTERVAL_YEAR_MONTH -> (int) number(31);
            case BIGINT, INTERVAL_DAY_TIME -> number(63);
            case FLOAT -> floating();
            case DOUBLE -> doubling();
            case DECIMAL -> decimal((DecimalType) type);
            case CHAR, VARCHAR -> strings.next();
            case BINARY, VARBINARY -> strings.bytes(random.nextInt(50) == 0 ? 100 : random.nextInt(12));
            case DATE -> random.nextBoolean() ? DATES[random.nextInt(DATES.length)] : random.nextInt(-100_000, 100_000);
            case TIME_WITHOUT_TIME_ZONE -> time();
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> timestamp();
            default -> throw new IllegalArgumentException("no random values for " + type.asSummaryString());
        };
    }

    private int size() {
        return random.nextInt(4) == 0 ? 0 : random.nextInt(4);
    }

    private GenericArrayData array(LogicalType element, int n) {
        Object[] elements = new Object[n];
        for (int i = 0; i < n; i++) {
            elements[i] = value(element);
        }
        return new GenericArrayData(elements);
    }

    private MapData map(LogicalType key, LogicalType value) {
        // Now and then many entries, whose order a hash table decides in some formats; not inside of each other, and rarely,
        // so that a run has many types.
        boolean large = !inLargeMap && random.nextInt(25) == 0;
        inLargeMap |= large;
        boolean colliding = large && key.is(LogicalTypeFamily.CHARACTER_STRING) && random.nextInt(4) == 0;
        GenericArrayData keys = colliding
                ? RandomStrings.colliding(8 + random.nextInt(3))
                : array(withRareNulls(key), large ? random.nextInt(4, 100) : size());
        int n = keys.size();
        GenericArrayData values = array(value, n);
        inLargeMap &= !large;
        if (random.nextBoolean()) {
            if (n > 1 && random.nextInt(3) == 0) {
                Object[] again = keys.toObjectArray();
                again[n - 1] = again[0];
                keys = new GenericArrayData(again);
            }
            return new ListMapData(keys, values);
        }
        Map<Object, Object> entries = new LinkedHashMap<>();
        for (int i = 0; i < n; i++) {
            entries.put(keys.toObjectArray()[i], values.toObjectArray()[i]);
        }
        return new GenericMapData(entries);
    }

    // In FAIL mode every row with a null key is an error; most rows shall be comparable.
    private LogicalType withRareNulls(LogicalType key) {
        return random.nextInt(10) == 0 ? key : key.copy(false);
    }

    /** A number of {@code bits} bits and a sign, all magnitudes alike. */
    private long number(int bits) {
        long value = random.nextLong() >>> 63 - random.nextInt(bits + 1);
        return switch (random.nextInt(6)) {
            case 0 -> (1L << bits) - 1;
            case 1 -> -(1L << bits - 1) << 1;
            case 2, 3 -> -(value >>> 1);
            default -> value >>> 1;
        };
    }

    private float floating() {
        return switch (random.nextInt(4)) {
            case 0 -> Float.intBitsToFloat(FLOATS[random.nextInt(FLOATS.length)]);
            case 1 -> random.nextInt(-100_000, 100_000) / 100f;
            case 2 -> Math.scalb(1f, random.nextInt(-149, 128));
            default -> Float.intBitsToFloat(random.nextInt());
        };
    }

    private double doubling() {
        return switch (random.nextInt(4)) {
            case 0 -> Double.longBitsToDouble(DOUBLES[random.nextInt(DOUBLES.length)]);
            case 1 -> random.nextInt(-100_000, 100_000) / 100d;
            case 2 -> Math.scalb(1d, random.nextInt(-1074, 1024));
            default -> Double.longBitsToDouble(random.nextLong());
        };
    }

    private DecimalData decimal(DecimalType type) {
        int digits = 1 + random.nextInt(type.getPrecision());
        BigInteger unscaled = switch (random.nextInt(6)) {
            case 0 -> BigInteger.ZERO;
            case 1 -> BigInteger.TEN.pow(digits - 1); // 100.00: where scientific notation begins to matter
            case 2 -> BigInteger.TEN.pow(digits).subtract(BigInteger.ONE);
            default -> new BigInteger(127, new Random(random.nextLong())).mod(BigInteger.TEN.pow(digits));
        };
        BigDecimal value = new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), type.getScale());
        return DecimalData.fromBigDecimal(value, type.getPrecision(), type.getScale());
    }

    private int time() {
        return switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> DAY_MILLIS - 1;
            case 2 -> random.nextInt(DAY_MILLIS / 1000) * 1000;
            // Not a time of day: Flink throws, and so must the encoder.
            case 3 -> random.nextInt(200) == 0 ? (random.nextBoolean() ? -1 : DAY_MILLIS) : 1;
            default -> random.nextInt(DAY_MILLIS);
        };
    }

    private TimestampData timestamp() {
        long millis = switch (random.nextInt(6)) {
            case 0 -> DATES[random.nextInt(DATES.length)] * (long) DAY_MILLIS + random.nextInt(DAY_MILLIS);
            case 1 -> random.nextInt(-1000, 1000);
            case 2 -> random.nextInt(1_000_000) * 60_000L;
            case 3 -> random.nextLong(-62_167_219_200_000L * 3, 253_402_300_799_999L * 3);
            case 4 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
            default -> random.nextLong(0, 4_102_444_800_000L);
        };
        int nanos = switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(1000) * 1000;
            case 2 -> 999_999;
            default -> random.nextInt(1_000_000);
        };
        return TimestampData.fromEpochMillis(millis, nanos);
    }
}
