package dev.penstock.integration.parity;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.StringData;

/** Keys of maps at the points where a {@link java.util.HashMap}, whose order avro and protobuf have, changes its form. */
final class CorpusKeys {
    /** A small table doubles at the ninth and the tenth key of a bucket; with the eleventh the bucket becomes a tree. */
    private static final int LONGEST_BUCKET = 10;

    /** Many more such keys become a tree while a table that begins with 16 grows. */
    private static final int MOST_ODD = 200;

    private CorpusKeys() {}

    /** Keys that have the part in which they differ in the middle. */
    static GenericArrayData odd(int n) {
        return array(IntStream.range(0, n).mapToObj(i -> StringData.fromString("\uD83D\uDE00" + i + "é\u20AC")));
    }

    /** Few and many keys around the sizes at which tables double, long buckets, odd texts and repeated ones. */
    static List<GenericArrayData> texts() {
        List<GenericArrayData> keys = new ArrayList<>();
        for (int n : new int[] {0, 1, 2, 3, 4, 6, 7, 11, 12, 13, 14, 23, 24, 25, 26, 47, 48, 49, 50, 96, 97, 200, 700}) {
            keys.add(array(IntStream.range(0, n).mapToObj(i -> StringData.fromString("key-" + i * i))));
            if (n <= MOST_ODD) {
                keys.add(odd(n));
            }
        }
        for (int n = 2; n <= LONGEST_BUCKET; n++) {
            keys.add(RandomStrings.colliding(n));
        }
        List<StringData> strings = CorpusValues.strings();
        // Malformed ones become alike.
        for (int from = 0; from + 40 < strings.size(); from += 400) {
            keys.add(array(strings.subList(from, from + 40).stream()));
        }
        StringData a = StringData.fromString("a");
        StringData b = StringData.fromString("b");
        keys.add(array(Stream.of(a, a, b, a)));
        keys.add(array(Stream.of(b, a, a)));
        return keys;
    }

    /** With a null at each position. */
    static List<GenericArrayData> nulls() {
        StringData a = StringData.fromString("a");
        StringData empty = StringData.fromString("");
        return List.of(array(Stream.of((Object) null)), array(Stream.of(a, null)), array(Stream.of(null, a, null)),
                array(Stream.of(empty, null, a)), array(Stream.of(null, empty)));
    }

    /** With so many keys of one hash code that their bucket becomes a tree. */
    static List<GenericArrayData> trees() {
        List<GenericArrayData> keys = new ArrayList<>();
        for (int n = LONGEST_BUCKET + 1; n <= 16; n++) {
            keys.add(RandomStrings.colliding(n));
        }
        // A large table has no room for early doubling.
        Stream<Object> many = IntStream.range(0, 60).mapToObj(i -> StringData.fromString("key-" + i));
        keys.add(array(Stream.concat(many, Stream.of(RandomStrings.colliding(LONGEST_BUCKET - 1).toObjectArray()))));
        // A tree that has lost its keys to others when the table grew.
        keys.add(odd(700));
        // A key of a tree that comes again.
        keys.add(array(Stream.of(RandomStrings.colliding(16), RandomStrings.colliding(12))
                .flatMap(twice -> Stream.of(twice.toObjectArray()))));
        return keys;
    }

    static GenericArrayData array(Stream<?> values) {
        return new GenericArrayData(values.toArray());
    }

    /** A map from these keys to their positions, a null for each seventh. */
    static ListMapData toPositions(GenericArrayData keys) {
        return new ListMapData(keys, array(IntStream.range(0, keys.size()).mapToObj(i -> i % 7 == 6 ? null : i)));
    }
}
