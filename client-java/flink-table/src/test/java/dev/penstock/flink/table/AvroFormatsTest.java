package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.RegistrySchema;
import dev.penstock.proto.v1.AvroFormat;
import dev.penstock.proto.v1.OpenWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.formats.avro.AvroFormatOptions.AvroEncoding;
import org.apache.flink.formats.avro.AvroRowDataSerializationSchema;
import org.apache.flink.formats.avro.registry.confluent.debezium.DebeziumAvroSerializationSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The formats of flink-avro; options go through Flink's own factories. */
class AvroFormatsTest {

    private static final List<Column> COLUMNS =
            List.of(Column.physical("id", DataTypes.INT()), Column.physical("name", DataTypes.STRING()));

    private static final List<Column> TIMESTAMP = List.of(Column.physical("t", DataTypes.TIMESTAMP(3)));

    private static final RowType ONE_TIMESTAMP =
            (RowType) DataTypes.ROW(DataTypes.FIELD("t", DataTypes.TIMESTAMP(3))).notNull().getLogicalType();

    @Test
    void avroIsNativeWithBothMappingsOfTimestamps() throws Exception {
        assertEquals(AvroFormat.getDefaultInstance(), avro(plan(COLUMNS, Map.of("format", "avro"))));
        assertEquals(
                AvroFormat.getDefaultInstance(),
                avro(plan(
                        TIMESTAMP,
                        Map.of("format", "avro", "avro.timestamp_mapping.legacy", "true", "avro.encoding", "binary"))));
        List<Column> precise = List.of(Column.physical("t", DataTypes.TIMESTAMP(6)), Column.physical("l", DataTypes.TIMESTAMP_LTZ(6)));
        assertEquals(
                AvroFormat.newBuilder().setLocalTimestamps(true).build(),
                avro(plan(precise, Map.of("format", "", "value.format", "avro", "value.avro.timestamp_mapping.legacy", "false"))));
        assertNull(plan(COLUMNS, Map.of("format", "avro")).valueSchema());
    }

    @Test
    void avrosJsonIsStock() {
        assertReason("'avro.encoding' is 'json'", Map.of("format", "avro", "avro.encoding", "json"));
    }

    @ParameterizedTest
    @CsvSource({"avro-confluent, false", "debezium-avro-confluent, true"})
    void registryFormatsCarryStocksSerializer(String format, boolean debezium) throws Exception {
        NativePlan plan = plan(COLUMNS, Map.of("format", format, format + ".url", "http://r:1"));
        assertEquals(AvroFormat.newBuilder().setRegistry(true).setDebezium(debezium).build(), avro(plan));
        RegistrySchema schema = InstantiationUtil.clone(plan).valueSchema();
        assertEquals("http://r:1", schema.url());
        // What the stock table factory makes of a table without 'subject'.
        assertEquals("flights-value", schema.subject());
        assertArrayEquals(
                InstantiationUtil.serializeObject(plan.valueSchema().serializer()),
                InstantiationUtil.serializeObject(schema.serializer()));
        GenericRowData row = GenericRowData.of(1, null);
        assertSame(row, schema.part().of(row));
    }

    @ParameterizedTest
    @ValueSource(strings = {"avro-confluent", "debezium-avro-confluent"})
    void optionsOfTheRegistrysClientAreForItAlone(String format) throws Exception {
        String prefix = "value." + format + ".";
        Map<String, String> changes = new HashMap<>(Map.of("format", "", "value.format", format));
        changes.put(prefix + "schema-registry.url", "https://r:1");
        changes.put(prefix + "subject", "mine");
        for (String option : List.of(
                "ssl.keystore.location", "ssl.keystore.password", "ssl.truststore.location", "ssl.truststore.password",
                "basic-auth.credentials-source", "basic-auth.user-info", "bearer-auth.credentials-source",
                "bearer-auth.token", "properties.a", "properties.b.c")) {
            changes.put(prefix + option, "x");
        }
        RegistrySchema schema = plan(COLUMNS, changes).valueSchema();
        assertEquals("https://r:1", schema.url());
        assertEquals("mine", schema.subject());
        assertNotNull(schema.serializer());
    }

    @ParameterizedTest
    @ValueSource(strings = {"schema", "schema-registry.schema"})
    void anExplicitSchemaIsStock(String option) {
        String schema = "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                + "{\"name\":\"id\",\"type\":[\"int\",\"null\"]},{\"name\":\"name\",\"type\":[\"string\",\"null\"]}]}";
        assertReason(
                "'avro-confluent.schema' is set",
                Map.of("format", "avro-confluent", "avro-confluent.url", "http://r:1", "avro-confluent." + option, schema));
    }

    @ParameterizedTest
    @CsvSource({"avro, true", "avro-confluent, true", "debezium-avro-confluent, false"})
    void theRequestedChangelogIsStocks(String format, boolean insertOnly) {
        Map<String, String> options = new HashMap<>(Map.of("format", format));
        if (!format.equals("avro")) {
            options.put(format + ".url", "http://r:1");
        }
        ChangelogMode mode = SinkTables.sink(SinkTables.options(options)).getChangelogMode(ChangelogMode.all());
        assertEquals(insertOnly ? ChangelogMode.insertOnly() : ChangelogMode.all(), mode);
    }

    /** Flink's equals of this serializer sees neither the encoding nor, without timestamps in the schema, the mapping. */
    @Test
    void anotherAvroSerializerIsStock() throws Exception {
        var made = new AvroRowDataSerializationSchema(ONE_TIMESTAMP, AvroEncoding.BINARY, false);
        String legacy = "timestamp_mapping.legacy";
        AvroOptions.parse(Map.of(legacy, "false"), ONE_TIMESTAMP, made);
        assertThrows(NotNative.class, () -> AvroOptions.parse(Map.of(), ONE_TIMESTAMP, made));
        var json = new AvroRowDataSerializationSchema(ONE_TIMESTAMP, AvroEncoding.JSON, true);
        assertThrows(NotNative.class, () -> AvroOptions.parse(Map.of(), ONE_TIMESTAMP, json));
    }

    @Test
    void anotherRegistrySerializerIsStock() throws Exception {
        Map<String, String> options = Map.of("url", "http://r:1", "subject", "s", "properties.a", "b");
        var made = new DebeziumAvroSerializationSchema(ONE_TIMESTAMP, "http://r:1", "s", Map.of("a", "b"));
        RegistryAvroOptions.parse("debezium-avro-confluent", options, ONE_TIMESTAMP, made);
        for (Map<String, String> other : List.of(
                Map.of("url", "http://r:1", "subject", "s"),
                Map.of("url", "http://r:2", "subject", "s", "properties.a", "b"),
                Map.of("url", "http://r:1", "subject", "t", "properties.a", "b"))) {
            assertThrows(
                    NotNative.class,
                    () -> RegistryAvroOptions.parse("debezium-avro-confluent", other, ONE_TIMESTAMP, made));
        }
        assertThrows(
                NotNative.class, () -> RegistryAvroOptions.parse("avro-confluent", options, ONE_TIMESTAMP, made));
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {
        "avro-confluent, value, t, t-value", "debezium-avro-confluent, key, t, t-key", "avro-confluent, value, t;u, -",
        "avro-confluent, value, -, -", "avro, value, t, -", "json, value, t, -",
    })
    void aMissingSubjectIsCompletedAsStockDoes(String format, String part, String topic, String subject) {
        Map<String, String> options = new HashMap<>();
        SchemaRegistry.completeSubject(format, part, topic, options);
        assertEquals(subject, options.get("subject"));
        Map<String, String> former = new HashMap<>(Map.of("schema-registry.subject", "mine"));
        SchemaRegistry.completeSubject(format, part, topic, former);
        assertEquals(Map.of("schema-registry.subject", "mine"), former);
    }

    private static AvroFormat avro(NativePlan plan) throws Exception {
        var format = OpenWriter.parseFrom(plan.openWriter()).getValueFormat();
        assertTrue(format.hasAvro(), format::toString);
        return format.getAvro();
    }

    private static NativePlan plan(List<Column> columns, Map<String, String> changes) throws NotNative {
        Map<String, String> options = new HashMap<>(SinkTables.OPTIONS);
        options.putAll(changes);
        options.remove("format", "");
        return SinkTables.sink(options, columns, Map.of()).plan(SinkTables.context());
    }

    private static void assertReason(String named, Map<String, String> changes) {
        NotNative e = assertThrows(NotNative.class, () -> plan(COLUMNS, changes));
        assertTrue(e.getMessage().contains(named), e.getMessage());
    }
}
