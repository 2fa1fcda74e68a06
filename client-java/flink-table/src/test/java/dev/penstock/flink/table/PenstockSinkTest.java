package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.flink.sink.FallbackKafkaSink;
import dev.penstock.flink.sink.PenstockKafkaSink;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.junit.jupiter.api.Test;

/** What the builder makes of options; the rows are ExamplesTest's. */
class PenstockSinkTest {

    private static final RowType ROW =
            RowType.of(
                    new LogicalType[] {new BigIntType(), new VarCharType(VarCharType.MAX_LENGTH)},
                    new String[] {"id", "name"});

    @Test
    void isNativeOrStockAsATableWouldBe() {
        assertInstanceOf(PenstockKafkaSink.class, sink().build());
        assertInstanceOf(FallbackKafkaSink.class, sink().option("penstock.enabled", "false").build());
        assertInstanceOf(FallbackKafkaSink.class, sink().kafkaProperty("interceptor.classes", "x.Y").build());
    }

    @Test
    void theConfigurationIsBelowItsOwnOptions() {
        Configuration flink = new Configuration();
        flink.setString("penstock.enabled", "false");
        assertInstanceOf(FallbackKafkaSink.class, sink().configuration(flink).build());
    }

    @Test
    void theOperatorSaysWhoWrites() {
        assertEquals("penstock-kafka [native]: Writer", writer(sink()));
        assertEquals(
                "penstock-upsert-kafka [native]: Writer",
                writer(upsert()));
        String fallback = writer(sink().option("penstock.enabled", "false"));
        assertTrue(fallback.startsWith("penstock-kafka [fallback: 'penstock.enabled' is false"), fallback);
    }

    @Test
    void theEnvironmentsConfigurationCounts() {
        Configuration flink = new Configuration();
        flink.setString("penstock.enabled", "false");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
        assertTrue(writer(env, sink()).contains("fallback"));
    }

    @Test
    void whatIsWrongIsNamed() {
        assertTrue(message(PenstockSink.builder().topic("t").bootstrapServers("b:1").option("format", "json")).contains("rowType"));
        assertTrue(message(sink().option("penstock.fallbak", "fail")).contains("penstock.fallbak"));
        assertTrue(message(sink().primaryKey("no")).contains("'no'"));
        assertTrue(
                message(sink().option("penstock.fallback", "fail").option("penstock.enabled", "false"))
                        .contains("'penstock.enabled' is false"));
        assertTrue(
                message(upsert().deliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                                .option("sink.buffer-flush.max-rows", "10")
                                .option("sink.buffer-flush.interval", "1 s"))
                        .contains("writeTo"));
    }

    private static PenstockSink.Builder sink() {
        return PenstockSink.builder()
                .rowType(ROW)
                .topic("t")
                .bootstrapServers("localhost:1")
                .option("format", "json")
                .deliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .transactionalIdPrefix("p")
                .kafkaProperty("transaction.timeout.ms", "900000");
    }

    private static PenstockSink.Builder upsert() {
        return PenstockSink.builder()
                .rowType(ROW)
                .primaryKey("id")
                .topic("t")
                .bootstrapServers("localhost:1")
                .option("key.format", "json")
                .option("value.format", "json")
                .deliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .transactionalIdPrefix("p");
    }

    private static String writer(PenstockSink.Builder sink) {
        return writer(StreamExecutionEnvironment.getExecutionEnvironment(), sink);
    }

    /** The name of the writer's operator. */
    private static String writer(StreamExecutionEnvironment env, PenstockSink.Builder sink) {
        DataStream<RowData> rows = env.fromData(InternalTypeInfo.of(ROW), (RowData) new GenericRowData(2));
        sink.writeTo(rows).uid("the-sink");
        return env.getStreamGraph().getStreamNodes().stream()
                .map(StreamNode::getOperatorName)
                .filter(name -> name.endsWith(": Writer"))
                .findFirst()
                .orElseThrow();
    }

    private static String message(PenstockSink.Builder sink) {
        Exception e = assertThrows(ValidationException.class, sink::build);
        return Stream.<Throwable>iterate(e, t -> t != null, Throwable::getCause)
                .map(Throwable::getMessage)
                .reduce("", String::concat);
    }
}
