package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.KafkaConfig;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.InstantiationUtil;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** Native or stock at run time. The stock writer of guarantee NONE needs no broker to be made. */
class PenstockKafkaSinkTest {

    @Test
    void aReachableDaemonGetsTheNativeWriter() throws Exception {
        FakeDaemonWriter daemon = new FakeDaemonWriter();
        TestWriterContext context = new TestWriterContext();
        try (SinkWriter<RowData> writer = sink(FallbackMode.STOCK, (plan, c) -> daemon).createWriter(context)) {
            assertInstanceOf(PlainPenstockWriter.class, writer);
            writer.write(row(1, "a"), null);
            writer.flush(true);
            assertEquals(List.of("begin 1", "submit last 1", "flush 1 rows 1"), daemon.calls);
        }
        assertEquals(0, context.gauge("fallback"));
        assertEquals(1L, context.gauge("nativeRows"));
    }

    @Test
    void theGaugesOfMemoryShowTheReportOfTheProcess() throws Exception {
        FakeDaemonWriter daemon = new FakeDaemonWriter();
        TestWriterContext context = new TestWriterContext();
        try (SinkWriter<RowData> writer = sink(FallbackMode.STOCK, (plan, c) -> daemon).createWriter(context)) {
            daemon.account = AccountReport.newBuilder()
                    .setCapacityBytes(1000)
                    .setReservedBytes(300)
                    .setPeakBytes(400)
                    .setDenied(5)
                    .setStateBytes(60)
                    .setAvailableBytes(650)
                    .setSpilledBytes(8)
                    .setOrphanBytes(10)
                    .build();
            daemon.arrowBytes = 11;
            Map.of("nativeOffHeapCapacityBytes", 1000L, "nativeOffHeapReservedBytes", 300L,
                    "nativeOffHeapAvailableBytes", 650L, "nativeOffHeapPeakBytes", 400L,
                    "nativeOffHeapDeniedReservations", 5L, "nativeStateBytes", 60L, "nativeParkedBytes", 7L,
                    "nativeSpilledBytes", 8L, "nativePinnedBytes", 9L, "nativeOrphanBytes", 10L)
                    .forEach((name, value) -> assertEquals(value, context.gauge(name), name));
            assertEquals(11L, context.gauge("nativeArrowAllocatorBytes"));
        }
    }

    @Test
    void anUnreachableDaemonGivesTheStockWriterAndSetsTheGauge() throws Exception {
        for (ErrorKind kind :
                new ErrorKind[] {ErrorKind.FALL_BACK, ErrorKind.RETRY, ErrorKind.DENIED, ErrorKind.BAD_REQUEST}) {
            TestWriterContext context = new TestWriterContext();
            try (SinkWriter<RowData> writer = sink(FallbackMode.STOCK, refusing(kind)).createWriter(context)) {
                assertTrue(writer.getClass().getName().endsWith(".KafkaWriter"), writer.getClass().getName());
            }
            assertEquals(1, context.gauge("fallback"));
        }
    }

    @Test
    void aTableThatCannotBeNativeGetsTheStockWriterAndSetsTheGauge() throws Exception {
        TestWriterContext context = new TestWriterContext();
        FallbackKafkaSink sink = InstantiationUtil.clone(new FallbackKafkaSink(stock()));
        try (SinkWriter<RowData> writer = sink.createWriter(context)) {
            assertTrue(writer.getClass().getName().endsWith(".KafkaWriter"), writer.getClass().getName());
        }
        assertEquals(1, context.gauge("fallback"));
    }

    @Test
    void aDaemonThatRefusesTheFirstEpochIsLeftForTheStockWriter() throws Exception {
        FakeDaemonWriter daemon = new FakeDaemonWriter();
        daemon.failure = new DaemonException(ErrorKind.FALL_BACK, "no such codec");
        TestWriterContext context = new TestWriterContext();
        try (SinkWriter<RowData> writer = sink(FallbackMode.STOCK, (plan, c) -> daemon).createWriter(context)) {
            assertTrue(writer.getClass().getName().endsWith(".KafkaWriter"), writer.getClass().getName());
        }
        assertEquals(List.of("close"), daemon.calls);
    }

    @Test
    void withFallbackFailTheReasonFailsTheTask() {
        IOException e =
                assertThrows(
                        IOException.class,
                        () ->
                                sink(FallbackMode.FAIL, refusing(ErrorKind.FALL_BACK))
                                        .createWriter(new TestWriterContext()));
        assertTrue(e.getMessage().contains("penstock.fallback"), e.getMessage());
        assertTrue(e.getMessage().contains("refused for the test"), e.getMessage());
    }

    @Test
    void aFencedAttemptDoesNotFallBack() {
        assertThrows(
                DaemonException.class,
                () -> sink(FallbackMode.STOCK, refusing(ErrorKind.FENCED)).createWriter(new TestWriterContext()));
    }

    @Test
    void aContextThatHidesTheBudgetIsNamed() {
        IOException e =
                assertThrows(
                        IOException.class,
                        () -> sink(FallbackMode.FAIL, DaemonConnector::local).createWriter(new TestWriterContext()));
        assertTrue(e.getMessage().contains("taskmanager.memory.task.off-heap.size"), e.getMessage());
        assertTrue(e.getMessage().contains(TestWriterContext.class.getName()), e.getMessage());
    }

    @Test
    void withoutBudgetTheStockWriterDoesTheJob() throws Exception {
        TestWriterContext context = new TestWriterContext();
        try (SinkWriter<RowData> writer = sink(FallbackMode.STOCK, DaemonConnector::local).createWriter(context)) {
            assertTrue(writer.getClass().getName().endsWith(".KafkaWriter"), writer.getClass().getName());
        }
        assertEquals(1, context.gauge("fallback"));
    }

    @Test
    void theSinkTravelsInTheJobGraph() throws Exception {
        PenstockKafkaSink sink = new PenstockKafkaSink(stock(), plan(FallbackMode.STOCK));
        PenstockKafkaSink copy = InstantiationUtil.clone(sink);
        assertEquals(stock().getLineageVertex().getClass(), copy.getLineageVertex().getClass());
    }

    private static DaemonConnector refusing(ErrorKind kind) {
        return (plan, context) -> {
            throw new DaemonException(kind, "refused for the test");
        };
    }

    private static PenstockKafkaSink sink(FallbackMode fallback, DaemonConnector connector) {
        return new PenstockKafkaSink(stock(), plan(fallback), connector);
    }

    private static NativePlan plan(FallbackMode fallback) {
        WriterSettings s = WriterFixture.settings(10);
        OpenWriter open =
                OpenWriter.newBuilder()
                        .setTopic("t")
                        .setKafka(KafkaConfig.newBuilder().setMaxBlockMs(1000).setDeliveryTimeoutMs(1000))
                        .build();
        return new NativePlan(
                open.toByteArray(),
                WriterFixture.TYPE,
                DeliveryGuarantee.NONE,
                null,
                new Properties(),
                new WriterSettings(
                        fallback, s.socketDirectory(), s.connectTimeout(), s.linger(), s.batchRows(), true),
                "cat.db.t");
    }

    private static KafkaSink<RowData> stock() {
        return KafkaSink.<RowData>builder()
                .setBootstrapServers("localhost:1")
                .setDeliveryGuarantee(DeliveryGuarantee.NONE)
                .setRecordSerializer(new NoRecords())
                .build();
    }

    private static final class NoRecords implements KafkaRecordSerializationSchema<RowData> {
        private static final long serialVersionUID = 1L;

        @Override
        public ProducerRecord<byte[], byte[]> serialize(RowData row, KafkaSinkContext context, Long timestamp) {
            return null;
        }
    }
}
