package dev.penstock.integration.harness;

import dev.penstock.proto.v1.DeliveryGuarantee;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.JsonFormat;
import dev.penstock.proto.v1.KafkaConfig;
import dev.penstock.proto.v1.LogicalType;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Owner;
import dev.penstock.proto.v1.Schema;
import dev.penstock.proto.v1.TypeRoot;

/** A sink writer that begins no epoch, so that it needs no broker: what sessions and memory are tried with. */
public final class WriterWithoutBroker {

    private WriterWithoutBroker() {}

    /** The request; a test may change it. The topic does not matter. */
    public static OpenWriter.Builder open(String job) {
        return OpenWriter.newBuilder()
                .setOwner(Owner.newBuilder().setJobId(job).setVertex("sink").setTaskName("sink 1/1"))
                .setTopic("nowhere")
                .setGuarantee(DeliveryGuarantee.NONE)
                .setValueFormat(Format.newBuilder().setJson(JsonFormat.newBuilder()
                        .setTimestampFormat(JsonFormat.TimestampFormat.SQL)
                        .setMapNullKeyMode(JsonFormat.MapNullKeyMode.FAIL)
                        .setMapNullKeyLiteral("null")))
                .setSchema(Schema.newBuilder().setRow(LogicalType.newBuilder()
                        .setRoot(TypeRoot.ROW)
                        .addFieldNames("a")
                        .addChildren(LogicalType.newBuilder().setRoot(TypeRoot.BIGINT).setNullable(true))))
                .setKafka(KafkaConfig.newBuilder()
                        // Nobody listens there.
                        .addBootstrapServers("127.0.0.1:1")
                        .setClientId("nowhere")
                        .setAcks(1)
                        .setDeliveryTimeoutMs(2_000)
                        .setRequestTimeoutMs(1_000)
                        .setMaxBlockMs(2_000)
                        .setTransactionTimeoutMs(60_000)
                        .setBufferBytes(4 << 20)
                        .setMaxRequestBytes(1 << 20)
                        .setCompression("none")
                        .setMaxInFlight(5)
                        .setRetryBackoffMs(100)
                        .setRetryBackoffMaxMs(1_000)
                        .setReconnectBackoffMs(50)
                        .setReconnectBackoffMaxMs(1_000)
                        .setConnectionSetupTimeoutMs(1_000)
                        .setConnectionsMaxIdleMs(540_000)
                        .setMetadataMaxAgeMs(300_000));
    }
}
