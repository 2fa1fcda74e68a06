package dev.penstock.integration.parity;

import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;

/** The column of a field, and values at which its bytes change their form; the first one is the default of the kind. */
final class ProtobufValues {
    private static final List<Integer> INTS = List.of(0, 1, -1, 63, 64, -64, -65, 127, 128, 16_383, 16_384, (1 << 21) - 1,
            1 << 21, (1 << 28) - 1, 1 << 28, Integer.MAX_VALUE, Integer.MIN_VALUE);
    private static final List<Long> LONGS = List.of(0L, 1L, -1L, 127L, 128L, (1L << 35) - 1, 1L << 35, (1L << 42) - 1, 1L << 42,
            (1L << 49) - 1, 1L << 49, (1L << 55) - 1, 1L << 55, (1L << 56) - 1, 1L << 56, Long.MAX_VALUE, Long.MIN_VALUE);
    private static final List<Float> FLOATS = List.of(0f, -0f, 1f, Float.NaN, Float.intBitsToFloat(0x7FC00001),
            Float.NEGATIVE_INFINITY, Float.MIN_VALUE, Float.MAX_VALUE);
    private static final List<Double> DOUBLES = List.of(0d, -0d, 1d, Double.NaN, Double.longBitsToDouble(0x7FF8000000000001L),
            Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE);
    private static final List<String> TEXTS = List.of("", "a", "x", "é\u20AC\uD83D\uDE00", "y".repeat(127), "y".repeat(128),
            "\u0000", "y".repeat(300));
    private static final List<byte[]> BYTES = List.of(new byte[0], new byte[1], new byte[127], new byte[128], new byte[] {-1});
    /** Names of several enums: what is not one of the field's own is one that it does not know. */
    private static final List<String> NAMES = List.of("COLOR_UNKNOWN", "a", "NaN", "FIVE", "ZERO", "OPEN_NONE", "CLOSED_FOUR", "no");

    /** As many edges as any kind has; each kind begins again after its last one. */
    static final int MOST_EDGES = LONGS.size();

    /** Further ones are powers of two, which lie in few buckets of a hash table. */
    private static final int KEY_EDGES = 8;

    private ProtobufValues() {}

    /** The nullable column that stands for a field; that of a message has its single scalar fields. */
    static LogicalType type(FieldDescriptor field) {
        if (field.isMapField()) {
            List<FieldDescriptor> entry = field.getMessageType().getFields();
            return new MapType(single(entry.get(0)), single(entry.get(1)));
        }
        return field.isRepeated() ? new ArrayType(single(field)) : single(field);
    }

    private static LogicalType single(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT -> new IntType();
            case LONG -> new BigIntType();
            case FLOAT -> new FloatType();
            case DOUBLE -> new DoubleType();
            case BOOLEAN -> new BooleanType();
            case STRING, ENUM -> new VarCharType(VarCharType.MAX_LENGTH);
            case BYTE_STRING -> new VarBinaryType(VarBinaryType.MAX_LENGTH);
            case MESSAGE -> RowType.of(new LogicalType[] {new IntType()}, new String[] {"f_int32"});
        };
    }

    /** Edge {@code k} of one value of a field, in Flink's internal data structures. */
    static Object edge(FieldDescriptor field, int k) {
        return switch (field.getJavaType()) {
            case INT -> of(INTS, k);
            case LONG -> of(LONGS, k);
            case FLOAT -> of(FLOATS, k);
            case DOUBLE -> of(DOUBLES, k);
            case BOOLEAN -> k % 2 == 1;
            case STRING -> StringData.fromString(of(TEXTS, k));
            case BYTE_STRING -> of(BYTES, k);
            case ENUM -> StringData.fromString(of(NAMES, k));
            case MESSAGE -> GenericRowData.of(k == 0 ? null : of(INTS, k));
        };
    }

    /** Key {@code k} of a map: first some edges, then others, all of which a hash table spreads well; booleans with nulls. */
    static Object key(FieldDescriptor field, int k) {
        boolean edge = k < KEY_EDGES;
        return switch (field.getJavaType()) {
            case INT -> edge ? edge(field, k) : (Object) (k * 7919);
            case LONG -> edge ? edge(field, k) : (Object) (k * 7_919_000_003L);
            case STRING -> edge ? edge(field, k) : StringData.fromString("key-" + k);
            default -> k % 3 == 2 ? null : edge(field, k);
        };
    }

    private static <T> T of(List<T> edges, int k) {
        return edges.get(k % edges.size());
    }
}
