package dev.penstock.integration.parity;

import dev.penstock.proto.v1.OpenWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema.KafkaSinkContext;
import org.apache.flink.formats.protobuf.PbCodegenException;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.InstantiationUtil;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Whole records of one random table. Flink's side is the serializer inside of the stock connector's sink, Penstock's is
 * the plan that its own factory makes of the same options.
 */
final class RecordSubject implements ParitySubject {
    private static final int SUBTASK = 5;
    private static final int[] PARTITIONS = {0, 1, 2};

    private final RandomTable table;
    private final SplittableRandom random;
    private final RowType type;

    RecordSubject(RandomTable table, SplittableRandom random) {
        this.table = table;
        this.random = random;
        List<LogicalType> types = new ArrayList<>(table.physical().getChildren());
        List<String> names = new ArrayList<>(table.physical().getFieldNames());
        for (String key : table.metadata()) {
            types.add(RandomTable.METADATA.get(key).getLogicalType());
            names.add("$metadata$" + key);
        }
        type = RowType.of(false, types.toArray(new LogicalType[0]), names.toArray(new String[0]));
    }

    @Override
    public RowType type() {
        return type;
    }

    @Override
    public Oracle oracle() throws Exception {
        KafkaRecordSerializationSchema<RowData> serializer =
                InstantiationUtil.clone(PlannedSinks.stockSerializer(table));
        SinkTask task = new SinkTask();
        try {
            serializer.open(null, task);
        } catch (PbCodegenException e) {
            // Flink's protobuf format refuses types only here.
            throw new IllegalArgumentException(e);
        }
        return row -> {
            ProducerRecord<byte[], byte[]> record = serializer.serialize(row, task, null);
            Integer partition = table.fixed() ? Integer.valueOf(PARTITIONS[SUBTASK % PARTITIONS.length]) : null;
            if (partition == null ? record.partition() != null : !partition.equals(record.partition())) {
                throw new AssertionError("stock chose partition " + record.partition() + " instead of " + partition);
            }
            return WholeRecord.of(record);
        };
    }

    @Override
    public OpenWriter open() throws Exception {
        OpenWriter open = PlannedSinks.penstockPlan(table);
        // Always whole records, also where nothing but the value is in them.
        return open.hasShape() ? open : open.toBuilder().setShape(PlannedSinks.wholeRows(type)).build();
    }

    @Override
    public SchemaNumbers schemas() {
        return table.schemas();
    }

    @Override
    public GenericRowData complete(GenericRowData row) {
        if (table.takesKinds()) {
            row.setRowKind(RowKind.values()[random.nextInt(RowKind.values().length)]);
        }
        int column = table.physical().getFieldCount();
        for (String key : table.metadata()) {
            if (key.equals("topic") && random.nextInt(50) != 0) {
                List<String> topics = table.topics();
                row.setField(column, StringData.fromString(topics.get(random.nextInt(topics.size()))));
            } else if (key.equals("timestamp") && row.getField(column) instanceof TimestampData at
                    && random.nextInt(20) != 0) {
                // A timestamp before 1970 is refused, and most rows shall be comparable.
                row.setField(column, TimestampData.fromEpochMillis(at.getMillisecond() & Long.MAX_VALUE));
            }
            column++;
        }
        return row;
    }

    @Override
    public String toString() {
        return table.toString();
    }

    /** The task that asks the fixed partitioner. */
    private static final class SinkTask implements KafkaSinkContext {
        @Override
        public int getParallelInstanceId() {
            return SUBTASK;
        }

        @Override
        public int getNumberOfParallelInstances() {
            return SUBTASK + 1;
        }

        @Override
        public int[] getPartitionsForTopic(String topic) {
            return PARTITIONS;
        }
    }
}
