package dev.penstock.integration.parity;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BinaryType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.CharType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DayTimeIntervalType;
import org.apache.flink.table.types.logical.DayTimeIntervalType.DayTimeResolution;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.NullType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.table.types.logical.YearMonthIntervalType;
import org.apache.flink.table.types.logical.YearMonthIntervalType.YearMonthResolution;

/**
 * Random row types of every kind that a format accepts, and now and then one that both sides must refuse.
 */
final class RandomTypes {
    private static final int MAX_DEPTH = 3;
    private static final String[] NAME_PARTS = {
        "a", "id", "dateTime", "with space", "q\"uote", "back\\slash", "sl/ash", "tab\t", "\u0001", "\u001f", "\u007f",
        "é", "\u2028", "漢字", "\uD83D\uDE00", "<&>'", "$", "\u00a0", "null", "op"
    };

    /** What Avro allows in names. */
    private static final String[] AVRO_NAME_PARTS = {
        "a", "id", "dateTime", "_x", "é", "漢字", "A1", "null", "op", "before", "after", "f9"
    };

    private static final Set<LogicalTypeRoot> CSV = EnumSet.complementOf(EnumSet.of(
            LogicalTypeRoot.INTERVAL_YEAR_MONTH, LogicalTypeRoot.INTERVAL_DAY_TIME));
    private static final Set<LogicalTypeRoot> RAW = EnumSet.of(
            LogicalTypeRoot.CHAR, LogicalTypeRoot.VARCHAR, LogicalTypeRoot.BINARY, LogicalTypeRoot.VARBINARY,
            LogicalTypeRoot.BOOLEAN, LogicalTypeRoot.TINYINT, LogicalTypeRoot.SMALLINT, LogicalTypeRoot.INTEGER,
            LogicalTypeRoot.BIGINT, LogicalTypeRoot.FLOAT, LogicalTypeRoot.DOUBLE);

    private final SplittableRandom random;
    private String[] nameParts = NAME_PARTS;

    RandomTypes(SplittableRandom random) {
        this.random = random;
    }

    /**
     * The type of a record of the json formats, nested to depth 3. A column of type NULL makes Flink refuse it (2.2:
     * RowData.createFieldGetter).
     */
    RowType record() {
        return row(width(), () -> type(0)).asRow(false);
    }

    /** The type of a csv record: arrays and rows of leaves, no intervals, no maps. */
    RowType csvRecord() {
        return row(width(), () -> random.nextInt(300) == 0 ? type(0) : csvType()).asRow(false);
    }

    /** The type of a raw record: one column, which is a leaf that raw knows. */
    RowType rawRecord() {
        return row(1, () -> random.nextInt(20) == 0 ? type(0) : leafOf(RAW)).asRow(false);
    }

    /**
     * The type of an avro record, nested to depth 3.
     *
     * @param legacy whether timestamps are those of the legacy mapping
     */
    RowType avroRecord(boolean legacy) {
        nameParts = AVRO_NAME_PARTS;
        return row(width(), () -> avroType(0, legacy)).asRow(false);
    }

    private LogicalType avroType(int depth, boolean legacy) {
        boolean nullable = random.nextInt(5) != 0;
        if (depth == MAX_DEPTH || random.nextInt(4) != 0) {
            return avroLeaf(nullable, legacy);
        }
        // Collections have the legacy mapping, whatever the option says.
        return switch (random.nextInt(6)) {
            case 0, 1 -> row(1 + random.nextInt(5), () -> avroType(depth + 1, legacy)).asRow(nullable);
            case 2 -> new ArrayType(nullable, avroType(depth + 1, true));
            case 3, 4 -> new MapType(nullable, string(random.nextInt(3) != 0), avroType(depth + 1, true));
            default -> new MultisetType(nullable, string(random.nextInt(3) != 0));
        };
    }

    /** A leaf that avro accepts, and now and then another one. */
    private LogicalType avroLeaf(boolean nullable, boolean legacy) {
        LogicalType leaf = leaf();
        return switch (random.nextInt(500) == 0 ? LogicalTypeRoot.RAW : leaf.getTypeRoot()) {
            case TIME_WITHOUT_TIME_ZONE -> new TimeType(nullable, random.nextInt(4));
            case TIMESTAMP_WITHOUT_TIME_ZONE -> new TimestampType(nullable, random.nextInt(legacy ? 4 : 7));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> legacy
                    ? new TimestampType(nullable, random.nextInt(4))
                    : new LocalZonedTimestampType(nullable, random.nextInt(7));
            case INTERVAL_YEAR_MONTH, INTERVAL_DAY_TIME, NULL -> new DateType(nullable);
            default -> leaf;
        };
    }

    /** 1 to 12 fields, sometimes many, so that null bits need more than one word. */
    private int width() {
        return random.nextInt(20) == 0 ? 60 + random.nextInt(20) : 1 + random.nextInt(12);
    }

    private LogicalType csvType() {
        boolean nullable = random.nextInt(5) != 0;
        return switch (random.nextInt(8)) {
            case 0 -> new ArrayType(nullable, leafOf(CSV));
            case 1 -> row(1 + random.nextInt(5), () -> leafOf(CSV)).asRow(nullable);
            default -> leafOf(CSV);
        };
    }

    private LogicalType leafOf(Set<LogicalTypeRoot> roots) {
        LogicalType leaf = leaf();
        while (!roots.contains(leaf.getTypeRoot())) {
            leaf = leaf();
        }
        return leaf;
    }

    private record Fields(List<LogicalType> types, List<String> names) {
        RowType asRow(boolean nullable) {
            return RowType.of(nullable, types.toArray(new LogicalType[0]), names.toArray(new String[0]));
        }
    }

    private Fields row(int count, Supplier<LogicalType> field) {
        Set<String> names = new LinkedHashSet<>();
        while (names.size() < count) {
            StringBuilder name = new StringBuilder();
            for (int i = random.nextInt(3); i >= 0; i--) {
                name.append(nameParts[random.nextInt(nameParts.length)]);
            }
            // Flink's RowType wants unique names that are more than white space.
            if (!name.toString().isBlank() && !names.add(name.toString())) {
                names.add(name.append(names.size()).toString());
            }
        }
        List<LogicalType> types = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            types.add(field.get());
        }
        return new Fields(types, new ArrayList<>(names));
    }

    private LogicalType type(int depth) {
        return depth < MAX_DEPTH && random.nextInt(4) == 0 ? nested(random.nextInt(5) != 0, depth + 1) : leaf();
    }

    private LogicalType leaf() {
        boolean nullable = random.nextInt(5) != 0;
        return switch (random.nextInt(20)) {
            case 0 -> new BooleanType(nullable);
            case 1 -> new TinyIntType(nullable);
            case 2 -> new SmallIntType(nullable);
            case 3 -> new IntType(nullable);
            case 4 -> new BigIntType(nullable);
            case 5 -> new FloatType(nullable);
            case 6 -> new DoubleType(nullable);
            case 7, 8 -> decimal(nullable);
            case 9 -> new BinaryType(nullable, 1 + random.nextInt(20));
            case 10 -> new VarBinaryType(nullable, VarBinaryType.MAX_LENGTH);
            case 11 -> new DateType(nullable);
            case 12 -> new TimeType(nullable, random.nextInt(10));
            case 13 -> new TimestampType(nullable, random.nextInt(10));
            case 14 -> new LocalZonedTimestampType(nullable, random.nextInt(10));
            case 15 -> new YearMonthIntervalType(nullable, YearMonthResolution.YEAR_TO_MONTH, 4);
            case 16 -> new DayTimeIntervalType(nullable, DayTimeResolution.DAY_TO_SECOND, 6, 3);
            case 17 -> random.nextInt(4) == 0 ? new NullType() : string(nullable);
            default -> string(nullable);
        };
    }

    private LogicalType nested(boolean nullable, int depth) {
        return switch (random.nextInt(5)) {
            case 0, 1 -> row(random.nextInt(12) == 0 ? 0 : 1 + random.nextInt(5), () -> type(depth)).asRow(nullable);
            case 2 -> new ArrayType(nullable, type(depth));
            case 3 -> new MapType(nullable, string(random.nextInt(3) != 0), type(depth));
            default -> new MultisetType(nullable, string(random.nextInt(3) != 0));
        };
    }

    private LogicalType decimal(boolean nullable) {
        int precision = 1 + random.nextInt(38);
        return new DecimalType(nullable, precision, random.nextInt(precision + 1));
    }

    private LogicalType string(boolean nullable) {
        return random.nextBoolean()
                ? new VarCharType(nullable, VarCharType.MAX_LENGTH)
                : new CharType(nullable, 1 + random.nextInt(30));
    }
}
