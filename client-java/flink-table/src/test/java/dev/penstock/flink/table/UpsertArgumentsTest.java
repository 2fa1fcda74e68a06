package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Field;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.streaming.connectors.kafka.table.SinkBufferFlushMode;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Penstock learns of an upsert table through the other factory is what the stock upsert sink has. */
class UpsertArgumentsTest {

    private static final String FORMATS = "'connector' = 'penstock-upsert-kafka', 'key.format' = 'json',"
            + " 'value.format' = 'csv', 'properties.bootstrap.servers' = 'localhost:1'";

    @ParameterizedTest
    @ValueSource(strings = {
        "(id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (" + FORMATS + ", 'topic' = 't')",
        "(k_b INT, v INT, `k_a;'x` INT, PRIMARY KEY (`k_a;'x`, k_b) NOT ENFORCED) WITH (" + FORMATS
                + ", 'topic' = 'a;b', 'key.fields-prefix' = 'k_', 'value.fields-include' = 'EXCEPT_KEY',"
                + " 'properties.linger.ms' = '7', 'sink.parallelism' = '3', 'sink.delivery-guarantee' = 'exactly-once',"
                + " 'sink.transactional-id-prefix' = 'p', 'sink.transaction-naming-strategy' = 'POOLING')",
        "(id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH (" + FORMATS + ", 'topic-pattern' = 't.*',"
                + " 'sink.buffer-flush.max-rows' = '5', 'sink.buffer-flush.interval' = '1 s')",
    })
    void argumentsAreThoseOfTheStockSink(String definition) throws Exception {
        PenstockDynamicSink sink = (PenstockDynamicSink) new DdlTables().sink(definition);
        KafkaDynamicSink stock = (KafkaDynamicSink) field(PenstockDynamicSink.class, sink, "stock");
        SinkArguments ours = (SinkArguments) field(PenstockDynamicSink.class, sink, "arguments");

        assertEquals(of(stock, "physicalDataType"), ours.physicalDataType());
        assertArrayEquals((int[]) of(stock, "keyProjection"), ours.keyProjection());
        assertArrayEquals((int[]) of(stock, "valueProjection"), ours.valueProjection());
        assertEquals(of(stock, "keyPrefix"), ours.keyPrefix());
        assertEquals(of(stock, "topics"), ours.topics());
        assertEquals(pattern(of(stock, "topicPattern")), pattern(ours.topicPattern()));
        assertEquals(of(stock, "properties"), ours.properties());
        assertEquals(of(stock, "partitioner"), ours.partitioner());
        assertEquals(of(stock, "deliveryGuarantee"), ours.deliveryGuarantee());
        assertEquals(of(stock, "parallelism"), ours.parallelism());
        assertEquals(of(stock, "transactionalIdPrefix"), ours.transactionalIdPrefix());
        assertEquals(of(stock, "transactionNamingStrategy"), ours.transactionNamingStrategy());
        assertEquals(of(stock, "upsertMode"), ours.upsert());
        assertEquals(((SinkBufferFlushMode) of(stock, "flushMode")).isEnabled(), ours.buffered());
    }

    @ParameterizedTest
    @ValueSource(strings = {"penstock-upsert-kafka", "upsert-kafka"})
    void theChangelogIsStocks(String connector) {
        ChangelogMode mode = new DdlTables()
                .sink("(id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ("
                        + FORMATS.replace("penstock-upsert-kafka", connector) + ", 'topic' = 't')")
                .getChangelogMode(ChangelogMode.all());
        assertEquals(List.of(RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE),
                mode.getContainedKinds().stream().sorted().toList());
    }

    private static String pattern(Object pattern) {
        return pattern == null ? null : ((Pattern) pattern).pattern();
    }

    private static Object of(KafkaDynamicSink stock, String name) throws Exception {
        return field(KafkaDynamicSink.class, stock, name);
    }

    private static Object field(Class<?> type, Object of, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
