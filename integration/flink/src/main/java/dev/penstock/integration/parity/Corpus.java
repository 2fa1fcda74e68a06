package dev.penstock.integration.parity;

import static dev.penstock.integration.parity.CorpusTable.column;
import static dev.penstock.integration.parity.CorpusTable.columns;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * Rows that are compared before any random ones, the same in every run: each table goes through all options that its values
 * have to do with. The tables of the text formats, which are here, are alike.
 */
final class Corpus {
    private static final int WIDE = 1000;
    private static final LogicalType TEXT = new VarCharType(VarCharType.MAX_LENGTH);
    private static final LogicalType INT = new IntType();

    private Corpus() {}

    /** The tables of a format. */
    static List<CorpusTable> of(ParityFormat format) {
        return switch (format) {
            case JSON, DEBEZIUM_JSON, CANAL_JSON, MAXWELL_JSON, OGG_JSON -> json(format);
            case CSV -> csv();
            case RAW -> raw();
            case AVRO, AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT -> AvroCorpus.tables(format);
            case PROTOBUF -> ProtobufCorpus.tables();
            // Their columns are those of the formats.
            case RECORDS, UPSERT -> List.of();
        };
    }

    private static List<CorpusTable> json(ParityFormat format) {
        JsonOptions defaults = json(format, TimestampFormat.SQL, MapNullKeyMode.FAIL, "null", false, false);
        List<JsonOptions> all = new ArrayList<>();
        for (TimestampFormat timestamps : TimestampFormat.values()) {
            for (MapNullKeyMode nullKeys : MapNullKeyMode.values()) {
                for (int bits = 0; bits < 4; bits++) {
                    all.add(json(format, timestamps, nullKeys, "b", (bits & 1) != 0, (bits & 2) != 0));
                }
            }
        }
        List<JsonOptions> spellings = List.of(
                defaults, json(format, TimestampFormat.SQL, MapNullKeyMode.FAIL, "null", true, false));
        List<CorpusTable> tables = new ArrayList<>(text(
                List.of(defaults), List.of(defaults), spellings,
                List.of(defaults, json(format, TimestampFormat.ISO_8601, MapNullKeyMode.FAIL, "null", false, false))));
        tables.add(nulls(all));
        tables.add(notNull(all));
        return tables;
    }

    /** Nulls inside of columns where the type says NOT NULL, which no enforcer looks at. */
    private static CorpusTable notNull(List<? extends FormatOptions> options) {
        LogicalType full = INT.copy(false);
        RowType inner = RowType.of(full, TEXT.copy(false));
        GenericRowData row = GenericRowData.of(null, null);
        GenericArrayData keys = new GenericArrayData(new Object[] {StringData.fromString("a"), null});
        return new CorpusTable("NOT NULL",
                columns(inner, new ArrayType(full), new ArrayType(inner.copy(false)), new MapType(TEXT.copy(false), full)),
                List.of(
                        new Object[] {row, new GenericArrayData(new Object[] {null, 1}),
                            new GenericArrayData(new Object[] {row, null}),
                            new ListMapData(new GenericArrayData(new Object[] {keys.toObjectArray()[0]}),
                                    new GenericArrayData(new Object[] {null}))},
                        new Object[] {null, null, null, new ListMapData(keys, new GenericArrayData(new Object[] {null, 2}))}),
                options);
    }

    private static JsonOptions json(ParityFormat format, TimestampFormat timestamps, MapNullKeyMode nullKeys,
            String literal, boolean plainDecimals, boolean ignoreNullFields) {
        return new JsonOptions(format, timestamps, nullKeys, literal, plainDecimals, ignoreNullFields);
    }

    /** Nulls at every place that has them, repeated and null keys, and timestamps at all depths. */
    private static CorpusTable nulls(List<JsonOptions> options) {
        TimestampData at = TimestampData.fromEpochMillis(655_906_363_120L, 456_000);
        RowType inner = RowType.of(INT, new TimestampType(3), INT);
        StringData a = StringData.fromString("a");
        StringData b = StringData.fromString("b");
        GenericRowData full = GenericRowData.of(1, at, 2);
        GenericRowData left = GenericRowData.of(3, null, null);
        GenericRowData none = GenericRowData.of(null, null, null);
        List<Object[]> rows = new ArrayList<>();
        rows.add(new Object[6]);
        for (GenericRowData row : new GenericRowData[] {null, full, left, none}) {
            for (Object[] keys : new Object[][] {{}, {a}, {a, b}, {a, a}, {b, null}, {null, b}, {null, null}}) {
                Object[] values = new Object[keys.length];
                Object[] inners = new Object[keys.length];
                for (int i = 0; i < keys.length; i++) {
                    values[i] = i == 0 ? null : i;
                    inners[i] = i == 0 ? full : row;
                }
                GenericArrayData keyArray = new GenericArrayData(keys);
                rows.add(new Object[] {
                    row == null ? null : 7, at, row, new GenericArrayData(new Object[] {row, null, full}),
                    new ListMapData(keyArray, new GenericArrayData(values)),
                    new ListMapData(keyArray, new GenericArrayData(inners))
                });
            }
        }
        return new CorpusTable("nulls and keys",
                columns(INT, new LocalZonedTimestampType(9), inner, new ArrayType(inner), new MapType(TEXT, INT),
                        new MapType(TEXT, inner)),
                rows, options);
    }

    private static List<CorpusTable> csv() {
        CsvOptions defaults = csv(null, null, false, null, null);
        // Around the rule when a text is quoted: the rank of delimiter and quote, the escape character, no quotes.
        List<CsvOptions> quoting = List.of(
                defaults, csv(';', null, false, null, null), csv('|', null, false, null, null),
                csv('\t', null, false, null, null), csv('\u0001', null, false, null, null),
                csv('\u2603', null, false, null, null), csv(null, '\'', false, null, null),
                csv(null, null, true, null, null), csv(null, null, false, '\\', null),
                csv(null, null, false, '|', null), csv('\t', '\u00E9', false, '\u2603', "n\ta"));
        List<CsvOptions> spellings = List.of(
                defaults, new CsvOptions(null, null, false, null, null, null, true),
                new CsvOptions(';', '\'', false, null, null, null, false));
        return text(quoting, List.of(defaults), spellings, quoting);
    }

    private static CsvOptions csv(Character delimiter, Character quote, boolean disabled, Character escape, String nulls) {
        return new CsvOptions(delimiter, quote, disabled, null, escape, nulls, null);
    }

    /** What all text formats have, with the options for strings, floats, decimals and timestamps. */
    private static List<CorpusTable> text(List<? extends FormatOptions> strings, List<? extends FormatOptions> floats,
            List<? extends FormatOptions> decimals, List<? extends FormatOptions> timestamps) {
        List<CorpusTable> tables = new ArrayList<>();
        tables.add(new CorpusTable("strings", columns(TEXT, new ArrayType(TEXT)),
                CorpusValues.strings().stream()
                        .map(s -> new Object[] {s, new GenericArrayData(new Object[] {s, null})})
                        .toList(),
                strings));
        tables.add(column("floats", new FloatType(), CorpusValues.floats(), floats));
        tables.add(column("doubles", new DoubleType(), CorpusValues.doubles(), floats));
        for (int[] type : new int[][] {{1, 0}, {10, 2}, {9, 7}, {20, 0}, {38, 0}, {38, 10}, {38, 38}}) {
            List<DecimalData> values = CorpusValues.decimals(type[0], type[1]);
            tables.add(column("decimals", new DecimalType(type[0], type[1]), values, decimals));
        }
        tables.add(new CorpusTable("timestamps",
                columns(new TimestampType(3), new TimestampType(9), new LocalZonedTimestampType(9)),
                CorpusValues.timestamps().stream().map(t -> new Object[] {t, t, t}).toList(), timestamps));
        tables.add(wide(floats));
        Object[] large = {CorpusValues.large()};
        tables.add(new CorpusTable("large", columns(TEXT), List.of(large, new Object[1], large, large), strings));
        return tables;
    }

    /** A thousand columns, set, null and both in turn. */
    static CorpusTable wide(List<? extends FormatOptions> options) {
        LogicalType[] types = new LogicalType[WIDE];
        Object[][] rows = new Object[3][WIDE];
        for (int i = 0; i < WIDE; i++) {
            types[i] = List.of(INT, TEXT, new BooleanType(), new TimestampType(6)).get(i % 4);
            rows[1][i] = List.of(i, StringData.fromString("\"" + i), i % 8 == 2, TimestampData.fromEpochMillis(i)).get(i % 4);
            rows[2][i] = i % 3 == 0 ? null : rows[1][i];
        }
        return new CorpusTable("wide", columns(types), List.of(rows), options);
    }

    private static List<CorpusTable> raw() {
        List<RawOptions> orders = List.of(new RawOptions(false), new RawOptions(true));
        List<StringData> strings = new ArrayList<>(CorpusValues.strings());
        strings.add(CorpusValues.large());
        strings.add(null);
        return List.of(
                column("booleans", new BooleanType(), Arrays.asList(true, false, null), orders),
                column("bytes", new TinyIntType(), List.of(Byte.MIN_VALUE, (byte) -1, (byte) 0, Byte.MAX_VALUE), orders),
                column("shorts", new SmallIntType(), List.of(Short.MIN_VALUE, (short) 0x0102, Short.MAX_VALUE), orders),
                column("ints", INT, List.of(Integer.MIN_VALUE, 0x01020304, Integer.MAX_VALUE), orders),
                column("longs", new BigIntType(), List.of(Long.MIN_VALUE, 0x0102030405060708L, Long.MAX_VALUE), orders),
                column("floats", new FloatType(), CorpusValues.floats(), orders),
                column("doubles", new DoubleType(), CorpusValues.doubles(), orders),
                column("strings", TEXT, strings, orders));
    }
}
