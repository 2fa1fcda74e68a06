package dev.penstock.integration.parity;

import static dev.penstock.integration.parity.CorpusTable.column;
import static dev.penstock.integration.parity.CorpusTable.columns;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BinaryType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.CharType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.MultisetType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;

/** The fixed corpus of the avro formats. */
final class AvroCorpus {
    private static final LogicalType TEXT = new VarCharType(VarCharType.MAX_LENGTH);
    private static final LogicalType INT = new IntType();

    private AvroCorpus() {}

    static List<CorpusTable> tables(ParityFormat format) {
        List<AvroOptions> options = new ArrayList<>(List.of(new AvroOptions(format, true, 0x01020304)));
        List<AvroOptions> modern = List.of(new AvroOptions(format, false, -1));
        if (format == ParityFormat.AVRO) {
            options.addAll(modern);
        }
        List<CorpusTable> tables = new ArrayList<>(edges(options));
        tables.add(family(options));
        tables.add(unions(options));
        tables.addAll(maps(options));
        if (format == ParityFormat.AVRO) {
            tables.add(new CorpusTable("microseconds", columns(new TimestampType(6), new LocalZonedTimestampType(6)),
                    CorpusValues.timestamps().stream().map(t -> new Object[] {t, t}).toList(), modern));
        }
        tables.add(column("large", TEXT, List.of(CorpusValues.large(), CorpusValues.large()), options));
        return tables;
    }

    /** Each type at its edges, as a union with null and without. */
    private static List<CorpusTable> edges(List<AvroOptions> options) {
        List<CorpusTable> tables = new ArrayList<>(List.of(
                both("booleans", new BooleanType(), List.of(true, false), options),
                both("bytes", new TinyIntType(), List.of((byte) -128, (byte) -65, (byte) -64, (byte) 0, (byte) 63,
                        (byte) 64, (byte) 127), options),
                both("shorts", new SmallIntType(), List.of(Short.MIN_VALUE, (short) -8193, (short) -8192, (short) 8191,
                        (short) 8192, Short.MAX_VALUE), options),
                both("ints", INT, longs(Integer.SIZE).map(Long::intValue).toList(), options),
                both("longs", new BigIntType(), longs(Long.SIZE).toList(), options),
                both("dates", new DateType(), longs(Integer.SIZE).map(Long::intValue).toList(), options),
                both("times", new TimeType(3), List.of(-1, 0, 1, 63, 64, 86_399_999, 86_400_000), options),
                both("floats", new FloatType(), CorpusValues.floats(), options),
                both("doubles", new DoubleType(), CorpusValues.doubles(), options),
                both("strings", TEXT, CorpusValues.strings(), options),
                both("padded", new CharType(5), List.of(text(""), text("a"), text("12345"), text("1234567")), options),
                both("binaries", new VarBinaryType(VarBinaryType.MAX_LENGTH), binaries(), options),
                both("fixed binaries", new BinaryType(3), binaries(), options),
                both("timestamps", new TimestampType(3), CorpusValues.timestamps(), options)));
        for (int[] type : new int[][] {{1, 0}, {9, 7}, {18, 0}, {19, 19}, {20, 0}, {38, 0}, {38, 10}, {38, 38}}) {
            List<DecimalData> fitting = new ArrayList<>(CorpusValues.decimals(type[0], type[1]));
            fitting.removeIf(value -> value == null);
            tables.add(both("decimals", new DecimalType(type[0], type[1]), fitting, options));
        }
        return tables;
    }

    /** All numbers that lie at a power of two and next to it, of so many bits. */
    private static Stream<Long> longs(int bits) {
        return IntStream.range(0, bits).boxed().flatMap(bit -> {
            long power = 1L << bit;
            return Stream.of(power - 1, power, power + 1, -power - 1, -power, -power + 1);
        });
    }

    private static List<byte[]> binaries() {
        return IntStream.of(0, 1, 2, 31, 32, 63, 64, 65, 8191, 8192).mapToObj(byte[]::new).toList();
    }

    private static CorpusTable both(String name, LogicalType type, List<?> values, List<AvroOptions> options) {
        List<Object[]> rows = new ArrayList<>();
        rows.add(new Object[] {null, values.get(0)});
        values.forEach(value -> rows.add(new Object[] {value, value}));
        return new CorpusTable(name, columns(type.copy(true), type.copy(false)), rows, options);
    }

    /** Every type in one row, populated, all null and in turn. */
    private static CorpusTable family(List<AvroOptions> options) {
        RowType inner = RowType.of(INT, TEXT);
        RowType type = columns(
                new BooleanType(), new TinyIntType(), new SmallIntType(), INT, new BigIntType(), new FloatType(),
                new DoubleType(), new DecimalType(10, 2), new CharType(3), TEXT, new BinaryType(2),
                new VarBinaryType(VarBinaryType.MAX_LENGTH), new DateType(), new TimeType(3), new TimestampType(3), inner,
                new ArrayType(INT), new MapType(TEXT, inner), new MultisetType(TEXT));
        GenericArrayData keys = new GenericArrayData(new Object[] {text("k"), text("l")});
        Object[] full = {
            true, (byte) 1, (short) 2, 3, 4L, 5f, 6d, DecimalData.fromUnscaledLong(789, 10, 2), text("abc"), text("text"),
            new byte[] {1, 2}, new byte[] {3}, 10, 11, TimestampData.fromEpochMillis(12), GenericRowData.of(13, text("in")),
            new GenericArrayData(new Object[] {14, null}),
            new ListMapData(keys, new GenericArrayData(new Object[] {GenericRowData.of(15, null), null})),
            new ListMapData(keys, new GenericArrayData(new Object[] {16, 17}))
        };
        List<Object[]> rows = new ArrayList<>(List.of(full, new Object[full.length]));
        for (int i = 0; i < full.length; i++) {
            Object[] one = new Object[full.length];
            Object[] others = full.clone();
            one[i] = full[i];
            others[i] = null;
            rows.addAll(List.of(one, others));
        }
        return new CorpusTable("all types", type, rows, options);
    }

    /** Unions with null in unions with null, and none. */
    private static CorpusTable unions(List<AvroOptions> options) {
        LogicalType[] types = Stream.of(true, false)
                .flatMap(outer -> Stream.of(true, false).flatMap(inner -> {
                    LogicalType leaf = INT.copy(inner);
                    RowType row = RowType.of(outer, leaf, RowType.of(inner, leaf));
                    return Stream.of(row, new ArrayType(outer, row), new ArrayType(outer, new ArrayType(inner, leaf)),
                            new MapType(outer, TEXT, new ArrayType(inner, leaf)));
                }))
                .toArray(LogicalType[]::new);
        RowType type = columns(types);
        List<Object[]> rows = new ArrayList<>();
        for (int depth = 0; depth < 4; depth++) {
            Object[] row = new Object[types.length];
            for (int i = 0; i < types.length; i++) {
                row[i] = nested(types[i], depth);
            }
            rows.add(row);
        }
        return new CorpusTable("unions", type, rows, options);
    }

    /** A value that is null from a depth on, where the type allows it. */
    private static Object nested(LogicalType type, int depth) {
        if (depth <= 0 && type.isNullable()) {
            return null;
        }
        List<LogicalType> children = type.getChildren();
        return switch (type.getTypeRoot()) {
            case ROW -> GenericRowData.of(children.stream().map(child -> nested(child, depth - 1)).toArray());
            case ARRAY -> new GenericArrayData(IntStream.range(0, Math.max(depth, 0))
                    .mapToObj(i -> nested(children.get(0), depth - 1 - i)).toArray());
            case MAP -> new ListMapData(new GenericArrayData(new Object[] {text("k")}),
                    new GenericArrayData(new Object[] {nested(children.get(1), depth - 1)}));
            default -> depth;
        };
    }

    private static List<CorpusTable> maps(List<AvroOptions> options) {
        LogicalType counts = new MapType(TEXT, INT);
        LogicalType deep = new MapType(TEXT, counts);
        List<ListMapData> ordered = CorpusKeys.texts().stream().map(CorpusKeys::toPositions).toList();
        return List.of(
                column("maps", counts, ordered, options),
                column("maps of maps", deep, ordered.stream()
                        .map(map -> new ListMapData(CorpusKeys.array(Stream.of(text("in"))),
                                new GenericArrayData(new Object[] {map})))
                        .toList(), options),
                column("multisets", new MultisetType(TEXT), CorpusKeys.texts().stream()
                        .map(keys -> new ListMapData(keys, CorpusKeys.array(IntStream.range(0, keys.size()).boxed())))
                        .toList(), options),
                column("null keys", counts, CorpusKeys.nulls().stream().map(CorpusKeys::toPositions).toList(), options),
                column("trees", counts, CorpusKeys.trees().stream().map(CorpusKeys::toPositions).toList(), options));
    }

    private static StringData text(String text) {
        return StringData.fromString(text);
    }
}
