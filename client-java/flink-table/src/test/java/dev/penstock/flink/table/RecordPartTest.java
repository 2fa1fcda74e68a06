package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.penstock.flink.sink.NativePlan;
import dev.penstock.flink.sink.RegistrySchema;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/** What the registry's serializers get of a row, and under which subjects, for keys and values. */
class RecordPartTest {

    private static final String TABLE = "(k_a INT, v STRING, k_b INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'"
            + "%s) WITH ('connector' = '%s', 'topic' = 'flights', 'properties.bootstrap.servers' = 'localhost:1',"
            + " 'key.format' = 'avro-confluent', 'key.avro-confluent.url' = 'http://keys:1', 'key.fields-prefix' = 'k_',"
            + " 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://values:1',"
            + " 'value.fields-include' = 'EXCEPT_KEY'%s)";

    private static final StringData V = StringData.fromString("v");

    @Test
    void partsOfAKafkaTableKeepTheKindOfTheValue() throws Exception {
        NativePlan plan = plan(String.format(TABLE, "", "penstock-kafka", ", 'key.fields' = 'k_b;k_a'"));
        RegistrySchema key = plan.keySchema();
        assertEquals(List.of("flights-key", "http://keys:1"), List.of(key.subject(), key.url()));
        RegistrySchema value = plan.valueSchema();
        assertEquals(List.of("flights-value", "http://values:1"), List.of(value.subject(), value.url()));
        GenericRowData row = GenericRowData.ofKind(RowKind.DELETE, 1, V, 2, null);
        assertEquals(GenericRowData.of(2, 1), key.part().of(row));
        assertEquals(GenericRowData.ofKind(RowKind.DELETE, V), value.part().of(row));
    }

    @Test
    void aDeletedRowOfAnUpsertTableHasNoValue() throws Exception {
        NativePlan plan = plan(
                String.format(TABLE, ", PRIMARY KEY (k_b, k_a) NOT ENFORCED", "penstock-upsert-kafka", ""));
        for (RowKind kind : RowKind.values()) {
            GenericRowData row = GenericRowData.ofKind(kind, 1, V, 2, null);
            assertEquals(GenericRowData.of(2, 1), plan.keySchema().part().of(row));
            if (kind == RowKind.DELETE || kind == RowKind.UPDATE_BEFORE) {
                assertNull(plan.valueSchema().part().of(row));
            } else {
                assertEquals(GenericRowData.of(V), plan.valueSchema().part().of(row));
            }
        }
    }

    private static NativePlan plan(String definition) throws Exception {
        PenstockDynamicSink sink = (PenstockDynamicSink) new DdlTables().sink(definition);
        return InstantiationUtil.clone(sink.plan(SinkTables.context()));
    }
}
