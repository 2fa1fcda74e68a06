package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.ChangelogJsonFormat;
import dev.penstock.proto.v1.ChangelogJsonFormat.Envelope;
import dev.penstock.proto.v1.CsvFormat;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.RawFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.csv.CsvRowDataSerializationSchema;
import org.apache.flink.formats.json.JsonFormatFactory;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.raw.RawFormatSerializationSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which formats are native, with which of their options. Options go through Flink's own factories. */
class FormatsTest {

    private static final RowType ONE_INT =
            (RowType) DataTypes.ROW(DataTypes.FIELD("x", DataTypes.INT())).notNull().getLogicalType();

    private static final List<Column> TEXT = List.of(Column.physical("s", DataTypes.STRING()));
    private static final List<Column> DECIMAL = List.of(Column.physical("d", DataTypes.DECIMAL(10, 2)));

    @ParameterizedTest
    @CsvSource({
        "debezium-json, DEBEZIUM", "canal-json, CANAL", "maxwell-json, MAXWELL", "ogg-json, OGG",
    })
    void changelogFormatsAreNativeUnderBothPrefixes(String format, Envelope envelope) throws Exception {
        assertEquals(
                changelog(envelope, JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.SQL)
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.FAIL)
                        .setMapNullKeyLiteral("null")),
                admit(SinkTables.COLUMNS, Map.of("format", format)));
        Map<String, String> changes = new HashMap<>(Map.of("format", "", "value.format", format));
        String prefix = "value." + format + ".";
        changes.put(prefix + "timestamp-format.standard", "ISO-8601");
        changes.put(prefix + "map-null-key.mode", "DROP");
        changes.put(prefix + "map-null-key.literal", "nix");
        changes.put(prefix + "encode.decimal-as-plain-number", "true");
        changes.put(prefix + "encode.ignore-null-fields", "true");
        changes.put(prefix + "ignore-parse-errors", "true");
        assertEquals(
                changelog(envelope, JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.ISO_8601)
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.DROP)
                        .setMapNullKeyLiteral("nix")
                        .setEncodeDecimalAsPlainNumber(true)
                        .setEncodeIgnoreNullFields(true)),
                admit(SinkTables.COLUMNS, changes));
    }

    @ParameterizedTest
    @CsvSource({
        "debezium-json, schema-include, false", "canal-json, database.include, d", "canal-json, table.include, t",
        "json, fail-on-missing-field, true",
        "csv, allow-comments, true", "csv, ignore-parse-errors, true",
    })
    void optionsOfReadingChangeNothing(String format, String option, String value) throws Exception {
        assertEquals(
                admit(SinkTables.COLUMNS, Map.of("format", format)),
                admit(SinkTables.COLUMNS, Map.of("format", format, format + "." + option, value)));
    }

    /** The option came with Flink 2.1. */
    @Test
    void theJsonParserIsAboutReading() throws Exception {
        boolean known =
                new JsonFormatFactory()
                        .optionalOptions().stream().anyMatch(o -> o.key().equals("decode.json-parser.enabled"));
        Map<String, String> changes = Map.of("format", "json", "json.decode.json-parser.enabled", "false");
        if (known) {
            assertEquals(
                    admit(SinkTables.COLUMNS, Map.of("format", "json")), admit(SinkTables.COLUMNS, changes));
        } else {
            assertThrows(ValidationException.class, () -> admit(SinkTables.COLUMNS, changes));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"debezium-json", "canal-json", "maxwell-json", "ogg-json", "json", "csv"})
    void theRequestedChangelogIsStocks(String format) {
        ChangelogMode mode =
                SinkTables.sink(SinkTables.options(Map.of("format", format))).getChangelogMode(ChangelogMode.all());
        boolean insertOnly = format.equals("json") || format.equals("csv");
        assertEquals(insertOnly ? ChangelogMode.insertOnly() : ChangelogMode.all(), mode);
    }

    /** FLINK-39401: raw has a line delimiter from Flink 2.4 on; until then nobody writes such a table without it. */
    @ParameterizedTest
    @CsvSource({"debezium-json, schema-include, true", "raw, line-delimiter, \\n"})
    void whatFlinkCannotWriteIsRefusedByFlink(String format, String option, String value) {
        Map<String, String> options = SinkTables.options(Map.of("format", format, format + "." + option, value));
        ValidationException e = assertThrows(
                ValidationException.class, () -> SinkTables.sink(options, TEXT, Map.of()));
        StringBuilder messages = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
            messages.append(t.getMessage());
        }
        assertTrue(messages.toString().contains(option), messages.toString());
    }

    @Test
    void csvSendsOnlyWhatTheTableSets() throws Exception {
        assertEquals(csv(CsvFormat.newBuilder()), admit(DECIMAL, Map.of("format", "csv")));
    }

    @Test
    void csvOptionsAreUnescapedAsFlinkDoes() throws Exception {
        assertEquals(
                csv(CsvFormat.newBuilder()
                        .setFieldDelimiter('\t')
                        .setQuoteCharacter('\'')
                        .setArrayElementDelimiter('|')
                        .setEscapeCharacter('\\')
                        .setNullLiteral("n\\ta")
                        .setDecimalScientific(true)),
                admit(DECIMAL, Map.of(
                        "format", "csv",
                        "csv.field-delimiter", "\\t",
                        "csv.quote-character", "'",
                        "csv.array-element-delimiter", "|",
                        "csv.escape-character", "\\",
                        "csv.null-literal", "n\\ta",
                        "csv.write-bigdecimal-in-scientific-notation", "true")));
        assertEquals(
                csv(CsvFormat.newBuilder().setFieldDelimiter('☃').setQuotesDisabled(true).setNullLiteral("")),
                admit(DECIMAL, Map.of(
                        "format", "", "value.format", "csv",
                        "value.csv.field-delimiter", "\\u2603",
                        "value.csv.disable-quote-character", "true",
                        "value.csv.null-literal", "",
                        "value.csv.write-bigdecimal-in-scientific-notation", "false")));
    }

    @ParameterizedTest
    @CsvSource({
        "csv.field-delimiter, \\u0000", "csv.field-delimiter, \\uD83D", "csv.quote-character, \uDE00",
        "csv.array-element-delimiter, \uD83D", "csv.escape-character, \uD83D", "csv.null-literal, a\uD83D",
    })
    void charactersThatTheMessageCannotCarryAreStock(String option, String value) {
        assertReason(option, DECIMAL, Map.of("format", "csv", option, value));
    }

    @Test
    void aJsonLiteralThatTheMessageCannotCarryIsStock() {
        assertReason(
                "json.map-null-key.literal", SinkTables.COLUMNS, Map.of("json.map-null-key.literal", "a\uDE00"));
    }

    @Test
    void rawIsNativeWithItsByteOrder() throws Exception {
        List<Column> column = List.of(Column.physical("x", DataTypes.BIGINT()));
        assertEquals(raw(false), admit(column, Map.of("format", "raw")));
        assertEquals(raw(true), admit(column, Map.of("format", "raw", "raw.endianness", "Little-Endian")));
        assertEquals(raw(false), admit(column, Map.of("format", "raw", "raw.charset", "utf8")));
    }

    @Test
    void rawInAnotherCharsetIsStock() {
        List<Column> column = List.of(Column.physical("x", DataTypes.STRING()));
        assertReason("'raw.charset' is 'UTF-16'", column, Map.of("format", "raw", "raw.charset", "UTF-16"));
    }

    @Test
    void aRawTypeIsStock() {
        DataType type = DataTypes.RAW(String.class, StringSerializer.INSTANCE);
        assertReason("type RAW", List.of(Column.physical("x", type)), Map.of("format", "raw"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"of-a-user", ""})
    void anyOtherFormatIsStock(String format) {
        NotNative e = assertThrows(
                NotNative.class, () -> Formats.admit(value(Map.of("format", format)), ONE_INT, null));
        assertTrue(e.getMessage().contains("the value format is '" + format + "'"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "json", "debezium-json", "canal-json", "maxwell-json", "ogg-json", "csv", "raw", "protobuf", "avro",
        "avro-confluent", "debezium-avro-confluent",
    })
    void anOptionThatNobodyHasLookedAtIsStock(String format) {
        NotNative e = assertThrows(
                NotNative.class,
                () -> Formats.admit(
                        value(Map.of("format", format, format + ".new-in-flink-9", "1")), ONE_INT, null));
        assertTrue(e.getMessage().contains("'" + format + ".new-in-flink-9'"), e.getMessage());
    }

    @ParameterizedTest
    @EnumSource(JsonFamily.class)
    void anotherJsonSerializerIsStock(JsonFamily format) throws Exception {
        var made = format.serializers().create(ONE_INT, TimestampFormat.SQL, MapNullKeyMode.FAIL, "null", true, false);
        String plain = "encode.decimal-as-plain-number";
        JsonOptions.parse(format, Map.of(plain, "true"), ONE_INT, made);
        assertThrows(NotNative.class, () -> JsonOptions.parse(format, Map.of(plain, "false"), ONE_INT, made));
    }

    /** Flink's equals of this serializer does not see the notation of decimals. */
    @Test
    void anotherCsvSerializerIsStock() throws Exception {
        CsvRowDataSerializationSchema.Builder builder = new CsvRowDataSerializationSchema.Builder(ONE_INT);
        builder.setWriteBigDecimalInScientificNotation(true);
        String scientific = "write-bigdecimal-in-scientific-notation";
        CsvOptions.parse(Map.of(scientific, "true"), ONE_INT, builder.build());
        assertThrows(NotNative.class, () -> CsvOptions.parse(Map.of(), ONE_INT, builder.build()));
        builder.setFieldDelimiter(';');
        assertThrows(NotNative.class, () -> CsvOptions.parse(Map.of(scientific, "true"), ONE_INT, builder.build()));
    }

    @Test
    void anotherRawSerializerIsStock() {
        var made = new RawFormatSerializationSchema(ONE_INT.getTypeAt(0), "UTF-8", false);
        assertThrows(NotNative.class, () -> RawOptions.parse(Map.of(), ONE_INT, made));
    }

    private static FormatChoice value(Map<String, String> options) {
        return TableOptions.of(options).valueFormat();
    }

    private static Format changelog(Envelope envelope, JsonFormat.Builder json) {
        return Format.newBuilder()
                .setChangelogJson(ChangelogJsonFormat.newBuilder().setEnvelope(envelope).setJson(json))
                .build();
    }

    private static Format csv(CsvFormat.Builder csv) {
        return Format.newBuilder().setCsv(csv).build();
    }

    private static Format raw(boolean littleEndian) {
        return Format.newBuilder().setRaw(RawFormat.newBuilder().setLittleEndian(littleEndian)).build();
    }

    private static Format admit(List<Column> columns, Map<String, String> changes) throws Exception {
        // Not SinkTables.options, to which an empty value means "not set".
        Map<String, String> options = new HashMap<>(SinkTables.OPTIONS);
        options.putAll(changes);
        options.remove("format", "");
        byte[] open = SinkTables.sink(options, columns, Map.of()).plan(SinkTables.context()).openWriter();
        return OpenWriter.parseFrom(open).getValueFormat();
    }

    private static void assertReason(String named, List<Column> columns, Map<String, String> changes) {
        NotNative e = assertThrows(NotNative.class, () -> admit(columns, changes));
        assertTrue(e.getMessage().contains(named), e.getMessage());
    }
}
