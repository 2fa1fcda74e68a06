package dev.penstock.integration.parity;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import dev.penstock.integration.parity.messages.CodeSize;
import dev.penstock.integration.parity.messages.Edition;
import dev.penstock.integration.parity.messages.Implicit;
import dev.penstock.integration.parity.messages.Lists;
import dev.penstock.integration.parity.messages.Maps;
import dev.penstock.integration.parity.messages.Oneofs;
import dev.penstock.integration.parity.messages.Optional;
import dev.penstock.integration.parity.messages.Proto2;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/** The fixed corpus of the protobuf format. */
final class ProtobufCorpus {
    private static final LogicalType TEXT = new VarCharType(VarCharType.MAX_LENGTH);
    private static final int MOST_TEXTS = 40;
    private static final String LITERAL = "n/a";

    private ProtobufCorpus() {}

    static List<CorpusTable> tables() {
        List<CorpusTable> tables = new ArrayList<>();
        Stream.of(Implicit.getDefaultInstance(), Optional.getDefaultInstance(), Proto2.Legacy.getDefaultInstance(),
                        CodeSize.ByReflection.getDefaultInstance(), Edition.getDefaultInstance(),
                        Proto2.Strict.getDefaultInstance())
                .forEach(message -> tables.add(presence(message)));
        Stream.of(Lists.getDefaultInstance(), Proto2.LegacyLists.getDefaultInstance(), Edition.getDefaultInstance())
                .forEach(message -> tables.add(lists(message)));
        tables.add(table("strings", Implicit.getDefaultInstance(), List.of("f_string", "f_bytes"),
                CorpusValues.strings().stream().map(s -> new Object[] {s, s.toBytes()}).toList()));
        tables.addAll(maps());
        tables.addAll(oneofs());
        tables.addAll(enums());
        tables.add(nested());
        tables.addAll(required());
        return tables;
    }

    private static List<ProtobufOptions> options(Message message) {
        return List.of(new ProtobufOptions(message, LITERAL));
    }

    /** Some rows of the named fields of a message, in this order, with the types that values have by default. */
    private static CorpusTable table(String name, Message message, List<String> fields, List<Object[]> rows) {
        Descriptor descriptor = message.getDescriptorForType();
        LogicalType[] types = fields.stream().map(field -> ProtobufValues.type(descriptor.findFieldByName(field)))
                .toArray(LogicalType[]::new);
        RowType type = RowType.of(false, types, fields.toArray(String[]::new));
        return new CorpusTable(descriptor.getName() + ", " + name, type, rows, options(message));
    }

    private static List<FieldDescriptor> fields(Message message, Predicate<FieldDescriptor> which) {
        return message.getDescriptorForType().getFields().stream().filter(which).toList();
    }

    /** All single fields of a message: null, at their defaults and at each of their edges, all together and one by one. */
    private static CorpusTable presence(Message message) {
        List<FieldDescriptor> fields = fields(message, field ->
                !field.isRepeated() && field.getJavaType() != JavaType.MESSAGE && field.getRealContainingOneof() == null);
        List<Object[]> rows = new ArrayList<>();
        for (int k = 0; k < ProtobufValues.MOST_EDGES; k++) {
            rows.add(row(fields, k));
        }
        for (int i = 0; i < fields.size(); i++) {
            for (int k = 0; k < ProtobufValues.MOST_EDGES; k++) {
                // The others null, unless the message cannot be built without.
                Object[] one = fields.stream().map(field -> field.isRequired() ? ProtobufValues.edge(field, 1) : null).toArray();
                one[i] = ProtobufValues.edge(fields.get(i), k);
                rows.add(one);
            }
            Object[] others = row(fields, 1);
            others[i] = null;
            rows.add(others);
        }
        rows.add(new Object[fields.size()]);
        return table("presence", message, fields.stream().map(FieldDescriptor::getName).toList(), rows);
    }

    private static Object[] row(List<FieldDescriptor> fields, int edge) {
        return fields.stream().map(field -> ProtobufValues.edge(field, edge)).toArray();
    }

    /** All lists of a message, empty, short, with nulls, and so long that the length of a packed one takes more bytes. */
    private static CorpusTable lists(Message message) {
        List<FieldDescriptor> fields = fields(message, field -> field.isRequired()
                || field.isRepeated() && !field.isMapField() && field.getJavaType() != JavaType.MESSAGE);
        List<Object[]> rows = new ArrayList<>();
        rows.add(new Object[fields.size()]);
        for (int n : new int[] {0, 1, 2, 15, 16, 31, 32, 127, 128, 1500}) {
            rows.add(fields.stream().map(field -> field.isRepeated() ? list(field, n) : ProtobufValues.edge(field, n)).toArray());
        }
        return table("lists", message, fields.stream().map(FieldDescriptor::getName).toList(), rows);
    }

    private static GenericArrayData list(FieldDescriptor field, int n) {
        // Some of the texts are long, and there is no packed list of texts.
        boolean packable = field.getJavaType() != JavaType.STRING && field.getJavaType() != JavaType.BYTE_STRING;
        return CorpusKeys.array(IntStream.range(0, packable ? n : Math.min(n, MOST_TEXTS))
                .mapToObj(i -> i % 11 == 10 ? null : ProtobufValues.edge(field, i)));
    }

    /** Keys of all kinds, few and many, repeated and null, with values at their edges and null. */
    private static List<CorpusTable> maps() {
        Message message = Maps.getDefaultInstance();
        List<CorpusTable> tables = new ArrayList<>();
        for (FieldDescriptor field : fields(message, field -> !isMessage(field.getMessageType().findFieldByNumber(2)))) {
            List<GenericArrayData> keys = new ArrayList<>();
            FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
            for (int n : new int[] {0, 1, 2, 8, 12, 13, 24, 25, 49, 300}) {
                keys.add(CorpusKeys.array(IntStream.range(0, n).mapToObj(i -> ProtobufValues.key(key, i))));
            }
            if (key.getJavaType() == JavaType.STRING) {
                keys.addAll(CorpusKeys.texts());
                keys.addAll(CorpusKeys.nulls());
                keys.addAll(CorpusKeys.trees());
            }
            if (key.getJavaType() == JavaType.INT) {
                keys.addAll(oneBucket(i -> i));
            }
            if (key.getJavaType() == JavaType.LONG) {
                keys.addAll(oneBucket(i -> (long) i));
            }
            tables.add(table("map " + field.getName(), message, List.of(field.getName()), keys.stream()
                    .map(of -> new Object[] {map(field, of)}).toList()));
        }
        return tables;
    }

    /** Numbers whose low bits, which choose the bucket, are the same: trees, in larger tables some of them are split. */
    private static List<GenericArrayData> oneBucket(IntFunction<Object> box) {
        List<GenericArrayData> keys = new ArrayList<>();
        for (int n : new int[] {11, 12, 30, 100, 700}) {
            keys.add(CorpusKeys.array(IntStream.range(0, n).mapToObj(i -> box.apply(64 * i))));
            keys.add(CorpusKeys.array(IntStream.range(0, n).mapToObj(i -> box.apply(-64 * (i * 7919 % 701)))));
        }
        return keys;
    }

    private static boolean isMessage(FieldDescriptor field) {
        return field.getJavaType() == JavaType.MESSAGE;
    }

    private static ListMapData map(FieldDescriptor field, GenericArrayData keys) {
        FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
        return new ListMapData(keys, CorpusKeys.array(IntStream.range(0, keys.size())
                .mapToObj(i -> i % 5 == 4 ? null : ProtobufValues.edge(value, i))));
    }

    /** Each order of three members, each subset of which is set, to the default and to another value. */
    private static List<CorpusTable> oneofs() {
        List<CorpusTable> tables = new ArrayList<>();
        Message message = Oneofs.getDefaultInstance();
        for (List<String> members : List.of(List.of("int_one", "text_one", "double_one"),
                List.of("message_one", "color_one", "text_one"), List.of("bytes_two", "message_two", "bool_two"),
                List.of("text_one", "long_two", "between"))) {
            for (int[] order : new int[][] {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
                List<String> fields = IntStream.of(order).mapToObj(members::get).toList();
                List<Object[]> rows = new ArrayList<>();
                for (int set = 0; set < 27; set++) {
                    int[] states = {set % 3, set / 3 % 3, set / 9};
                    rows.add(IntStream.range(0, 3).mapToObj(i -> states[i] == 0 ? null : ProtobufValues.edge(
                            message.getDescriptorForType().findFieldByName(fields.get(i)), states[i] - 1)).toArray());
                }
                tables.add(table("oneof", message, fields, rows));
            }
        }
        return tables;
    }

    /** Names and numbers, declared and not, as strings, as INT and as BIGINT, which is cut to an int. */
    private static List<CorpusTable> enums() {
        List<StringData> names = Stream.of("COLOR_UNKNOWN", "a", "NaN", "LARGE", "SMALL", "A", "", " a", "FIVE", "ZERO", "MINUS",
                "CLOSED_FOUR", "no such name", "1").map(StringData::fromString).toList();
        List<Integer> ints = List.of(0, 1, -1, 2, 3, 4, 5, -3, Integer.MAX_VALUE, Integer.MIN_VALUE);
        List<Long> longs = List.of(0L, 1L, -1L, 5L, 1L << 32, (1L << 32) + 1, (1L << 32) + 5, Long.MIN_VALUE, Long.MAX_VALUE);
        List<CorpusTable> tables = new ArrayList<>();
        record Place(Message message, String single, String list) {}
        for (Place place : List.of(new Place(Implicit.getDefaultInstance(), "color", null),
                new Place(Optional.getDefaultInstance(), "color", null), new Place(Proto2.Legacy.getDefaultInstance(), "grade", null),
                new Place(CodeSize.ByReflection.getDefaultInstance(), "tint", null), new Place(Lists.getDefaultInstance(), null, "color"),
                new Place(Proto2.LegacyLists.getDefaultInstance(), null, "grades"))) {
            tables.addAll(enums(place.message, place.single, place.list, TEXT, names));
            tables.addAll(enums(place.message, place.single, place.list, new IntType(), ints));
            tables.addAll(enums(place.message, place.single, place.list, new BigIntType(), longs));
        }
        return tables;
    }

    private static List<CorpusTable> enums(Message message, String single, String list, LogicalType type, List<?> values) {
        List<CorpusTable> tables = new ArrayList<>();
        String name = message.getDescriptorForType().getName() + ", enum";
        if (single != null) {
            tables.add(new CorpusTable(name, RowType.of(false, new LogicalType[] {type}, new String[] {single}),
                    values.stream().map(value -> new Object[] {value}).toList(), options(message)));
        }
        if (list != null) {
            RowType lists = RowType.of(false, new LogicalType[] {new ArrayType(type)}, new String[] {list});
            GenericArrayData all = CorpusKeys.array(Stream.concat(values.stream(), Stream.of((Object) null)));
            tables.add(new CorpusTable(name, lists, List.<Object[]>of(new Object[] {all}), options(message)));
        }
        return tables;
    }

    /** Messages in messages: null, empty, at defaults, and so large that their length takes more bytes. */
    private static CorpusTable nested() {
        RowType leaf = RowType.of(new LogicalType[] {new IntType(), TEXT}, new String[] {"f_int32", "f_string"});
        RowType middle = RowType.of(new LogicalType[] {TEXT, leaf}, new String[] {"f_string", "self"});
        RowType type = RowType.of(false, new LogicalType[] {middle}, new String[] {"self"});
        GenericRowData none = GenericRowData.of(null, null);
        List<GenericRowData> leaves = new ArrayList<>(List.of(none, GenericRowData.of(0, StringData.fromString(""))));
        leaves.add(null);
        for (int n : new int[] {1, 120, 125, 126, 127, 128, 16_370, 16_383, 16_384}) {
            leaves.add(GenericRowData.of(null, StringData.fromString("x".repeat(n))));
        }
        List<Object[]> rows = new ArrayList<>();
        leaves.forEach(of -> rows.add(new Object[] {of == null ? null : GenericRowData.of(StringData.fromString("m"), of)}));
        leaves.forEach(of -> rows.add(new Object[] {GenericRowData.of(null, of)}));
        rows.add(new Object[1]);
        return new CorpusTable("nested messages", type, rows, options(Implicit.getDefaultInstance()));
    }

    /** Fields that a message requires: null, in nested messages, in lists and maps, and without a column. */
    private static List<CorpusTable> required() {
        StringData text = StringData.fromString("n");
        StringData five = StringData.fromString("FIVE");
        RowType strict = RowType.of(new LogicalType[] {new IntType(), TEXT, TEXT}, new String[] {"id", "name", "grade"});
        GenericRowData good = GenericRowData.of(1, text, five);
        List<GenericRowData> all = new ArrayList<>(List.of(good, GenericRowData.of(null, text, five),
                GenericRowData.of(1, null, five), GenericRowData.of(1, text, null), GenericRowData.of(null, null, null)));
        all.add(null);
        List<Object[]> inLists = new ArrayList<>();
        List<Object[]> inMaps = new ArrayList<>();
        for (GenericRowData of : all) {
            inLists.add(new Object[] {new GenericArrayData(new Object[] {good, of})});
            inMaps.add(new Object[] {new ListMapData(
                    new GenericArrayData(new Object[] {1, 2}), new GenericArrayData(new Object[] {good, of}))});
            // Nobody sees the first value.
            inMaps.add(new Object[] {new ListMapData(
                    new GenericArrayData(new Object[] {1, 1}), new GenericArrayData(new Object[] {of, good}))});
        }
        Message lists = Proto2.LegacyLists.getDefaultInstance();
        return List.of(
                new CorpusTable("required", RowType.of(false, new LogicalType[] {strict}, new String[] {"c_strict"}),
                        all.stream().map(of -> new Object[] {of}).toList(), options(Proto2.Legacy.getDefaultInstance())),
                new CorpusTable("required in lists",
                        RowType.of(false, new LogicalType[] {new ArrayType(strict)}, new String[] {"stricts"}), inLists,
                        options(lists)),
                new CorpusTable("required in maps",
                        RowType.of(false, new LogicalType[] {new MapType(new IntType(), strict)}, new String[] {"strict_map"}),
                        inMaps, options(lists)),
                table("required without a column", Proto2.Strict.getDefaultInstance(), List.of("id", "name"),
                        List.<Object[]>of(new Object[] {1, text})));
    }
}
