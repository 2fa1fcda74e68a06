package dev.penstock.examples;

import dev.penstock.flink.table.PenstockSink;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/** Writes the late flights of a file to a topic, exactly once, keyed by their route. */
public final class FlightsToKafka {

    private static final RowType LATE_FLIGHT =
            RowType.of(
                    new LogicalType[] {new VarCharType(VarCharType.MAX_LENGTH), new VarCharType(VarCharType.MAX_LENGTH), new IntType()},
                    new String[] {"origin", "destination", "delay"});

    /** Enough for the lines of this one file. */
    private static final Pattern FLIGHT =
            Pattern.compile(".*\"delay\":(-?\\d+),.*\"origin\":\"(\\w+)\",\"destination\":\"(\\w+)\".*");

    private FlightsToKafka() {}

    /** Arguments: the file of flights, the brokers, the topic. */
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.enableCheckpointing(1_000);
        define(env, args[0], args[1], args[2]);
        env.execute("late flights to Kafka");
    }

    /** Adds the job to {@code env}. */
    public static void define(StreamExecutionEnvironment env, String file, String brokers, String topic) {
        FileSource<String> source = FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(file)).build();
        DataStream<RowData> late =
                env.fromSource(source, WatermarkStrategy.noWatermarks(), "flights")
                        .map(FlightsToKafka::row)
                        .returns(InternalTypeInfo.of(LATE_FLIGHT))
                        .filter(row -> row.getInt(2) > 15);
        PenstockSink.builder()
                .rowType(LATE_FLIGHT)
                .bootstrapServers(brokers)
                .topic(topic)
                .option("key.format", "json")
                .option("key.fields", "origin;destination")
                .option("value.format", "json")
                .deliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .transactionalIdPrefix(topic)
                // The largest that brokers allow by default.
                .kafkaProperty("transaction.timeout.ms", "900000")
                .writeTo(late)
                .uid("late-flights-sink");
    }

    private static RowData row(String line) {
        Matcher flight = FLIGHT.matcher(line);
        if (!flight.matches()) {
            throw new IllegalArgumentException("not a flight: " + line);
        }
        return GenericRowData.of(
                StringData.fromString(flight.group(2)),
                StringData.fromString(flight.group(3)),
                Integer.valueOf(flight.group(1)));
    }
}
