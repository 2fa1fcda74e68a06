package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.flink.sink.FallbackMode;
import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.RunningVersions;
import dev.penstock.flink.sink.WriterSettings;
import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.TypeRoot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What admission makes of options, where {@link AdmissionCasesTest} has no case for it. They go through the factory. */
class AdmissionTest {

    @Test
    void aPlainJsonTableIsNative() throws Exception {
        OpenWriter open = OpenWriter.parseFrom(admit(Map.of()).openWriter());
        assertEquals("flights", open.getTopic());
        assertEquals(dev.penstock.proto.v1.DeliveryGuarantee.AT_LEAST_ONCE, open.getGuarantee());
        assertEquals(List.of("id", "name"), open.getSchema().getRow().getFieldNamesList());
        assertEquals(TypeRoot.BIGINT, open.getSchema().getRow().getChildren(0).getRoot());
        assertEquals(
                JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.SQL)
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.FAIL)
                        .setMapNullKeyLiteral("null")
                        .build(),
                open.getValueFormat().getJson());
    }

    @ParameterizedTest
    @CsvSource({"format, json.", "value.format, value.json."})
    void jsonOptionsAreReadUnderBothPrefixes(String formatOption, String prefix) throws Exception {
        Map<String, String> changes = new HashMap<>(Map.of("format", ""));
        changes.put(formatOption, "json");
        changes.put(prefix + "timestamp-format.standard", "ISO-8601");
        changes.put(prefix + "map-null-key.mode", "LITERAL");
        changes.put(prefix + "map-null-key.literal", "nix");
        changes.put(prefix + "encode.decimal-as-plain-number", "true");
        changes.put(prefix + "encode.ignore-null-fields", "true");
        changes.put(prefix + "fail-on-missing-field", "true");
        assertEquals(
                JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.ISO_8601)
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.LITERAL)
                        .setMapNullKeyLiteral("nix")
                        .setEncodeDecimalAsPlainNumber(true)
                        .setEncodeIgnoreNullFields(true)
                        .build(),
                OpenWriter.parseFrom(admit(changes).openWriter()).getValueFormat().getJson());
    }

    @ParameterizedTest
    @CsvSource({"at-least-once, AT_LEAST_ONCE", "exactly-once, EXACTLY_ONCE", "none, NONE"})
    void everyGuaranteeIsNative(String option, String expected) throws Exception {
        NativePlan plan = admit(Map.of("sink.delivery-guarantee", option, "sink.transactional-id-prefix", "p"));
        assertEquals(expected, OpenWriter.parseFrom(plan.openWriter()).getGuarantee().name());
        assertEquals(expected, plan.guarantee().name());
        assertEquals("p", plan.transactionalIdPrefix());
        assertEquals(3_600_000, plan.producerProperties().get("transaction.timeout.ms"));
    }

    @Test
    void poolingIsStockOnlyWithTransactions() throws Exception {
        Map<String, String> pooling = Map.of("sink.transaction-naming-strategy", "POOLING");
        admit(pooling);
        Map<String, String> exactlyOnce = new HashMap<>(pooling);
        exactlyOnce.put("sink.delivery-guarantee", "exactly-once");
        exactlyOnce.put("sink.transactional-id-prefix", "p");
        assertReason(exactlyOnce, "naming-strategy");
    }

    @Test
    void aFormatOptionOfACompiledPlanCountsAsFlinkCountsIt() throws Exception {
        // json.timestamp-format.standard is forwardable, so Flink takes the plan's value.
        NativePlan plan =
                SinkTables.sink(
                                SinkTables.OPTIONS,
                                SinkTables.COLUMNS,
                                Map.of("json.timestamp-format.standard", "ISO-8601"))
                        .plan(SinkTables.context());
        assertEquals(
                JsonFormat.TimestampFormat.ISO_8601,
                OpenWriter.parseFrom(plan.openWriter()).getValueFormat().getJson().getTimestampFormat());
    }

    @Test
    void anotherFlinkIsStockUntilItsFormatsWereCompared() {
        Admission.Request request =
                new Admission.Request(
                        null,
                        List.of(),
                        new PenstockTable("c", "t", TableOptions.of(Map.of()), Optional.empty(), null),
                        new RunningVersions("2.4-SNAPSHOT", "2.20.1", 17));
        NotNative e = assertThrows(NotNative.class, () -> Admission.plan(request, SinkTables.context()));
        assertTrue(e.getMessage().contains("2.4-SNAPSHOT"), e.getMessage());
    }

    @Test
    void headersOfAnotherConnectorAreStock() throws Exception {
        RecordPlan.requireKnownHeaders("5.0.1-2.2");
        for (String connector : List.of("5.1.0-2.2", "null")) {
            NotNative e = assertThrows(NotNative.class, () -> RecordPlan.requireKnownHeaders(connector));
            assertTrue(e.getMessage().contains("flink-connector-kafka " + connector), e.getMessage());
        }
    }

    @Test
    void metadataOfAnotherConnectorIsStock() {
        ConsumedRow row = ConsumedRow.of(
                (RowType) DataTypes.ROW(DataTypes.FIELD("id", DataTypes.INT())).getLogicalType(),
                List.of(new MetadataColumn("partition", DataTypes.INT().getLogicalType())));
        NotNative e = assertThrows(NotNative.class, () -> RecordPlan.requireKnownMetadata(row));
        assertTrue(e.getMessage().contains("'partition'"), e.getMessage());
    }

    @Test
    void penstockOptionsBecomeSettings() throws Exception {
        WriterSettings settings =
                admit(
                                Map.of(
                                        "penstock.fallback", "fail",
                                        "penstock.socket-dir", "/s",
                                        "penstock.linger", "7 ms",
                                        "penstock.batch.rows", "5",
                                        "penstock.connect-timeout", "3 s",
                                        "penstock.warm-pool", "false"))
                        .settings();
        assertEquals(
                new WriterSettings(
                        FallbackMode.FAIL, "/s", Duration.ofSeconds(3), Duration.ofMillis(7), 5, false),
                settings);
        assertEquals(Optional.empty(), Optional.ofNullable(admit(Map.of()).settings().socketDirectory()));
    }

    @ParameterizedTest
    @CsvSource({
        "penstock.batch.rows, 0",
        "penstock.linger, 0 ms",
        "penstock.fallback, perhaps",
        "penstock.nobody.knows, 1"
    })
    void badOptionsAreRefusedByName(String key, String value) {
        ValidationException e =
                assertThrows(ValidationException.class, () -> SinkTables.sink(SinkTables.options(Map.of(key, value))));
        StringBuilder messages = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
            messages.append(t.getMessage());
        }
        assertTrue(messages.toString().contains(key), messages.toString());
    }

    /** The budget is the TaskManager's, whatever its tables: 'taskmanager.memory.task.off-heap.size' is the only setting. */
    @Test
    void aBudgetOfATableIsAnUnknownOption() {
        Map<String, String> options = SinkTables.options(Map.of("penstock.memory.budget", "64m"));
        Throwable e = assertThrows(ValidationException.class, () -> SinkTables.sink(options));
        while (e.getCause() != null) {
            e = e.getCause();
        }
        assertTrue(e.getMessage().startsWith("Unsupported options found for 'penstock-kafka'."), e.getMessage());
        assertTrue(e.getMessage().contains("Unsupported options:\n\npenstock.memory.budget\n"), e.getMessage());
    }

    private static NativePlan admit(Map<String, String> changes) throws NotNative {
        return SinkTables.sink(SinkTables.options(changes)).plan(SinkTables.context());
    }

    private static void assertReason(Map<String, String> changes, String named) {
        NotNative e = assertThrows(NotNative.class, () -> admit(changes));
        assertTrue(e.getMessage().contains(named), e.getMessage());
    }
}
