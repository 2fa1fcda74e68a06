package dev.penstock.flink.sink;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.penstock.proto.v1.OpenWriter;
import java.io.Serializable;
import java.util.List;
import java.util.Properties;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.table.types.logical.RowType;

/**
 * Everything that a task needs to write natively; made at planning time, shipped in the job graph.
 *
 * @param openWriter a serialized {@link OpenWriter} without session and owner. Bytes instead of the message, so that
 *     the job graph does not depend on how a protobuf runtime serializes its classes
 * @param rowType the rows: physical columns, then written metadata
 * @param guarantee the delivery guarantee
 * @param transactionalIdPrefix the prefix of transactional ids; null unless exactly-once
 * @param producerProperties the properties of the stock sink's producers; used to abort lingering transactions
 * @param settings how the writers behave
 * @param keySchema the schema of keys whose format writes its id; null when the format has none
 * @param valueSchema the schema of values whose format writes its id; null when the format has none
 * @param table the table's name, for messages
 */
public record NativePlan(
        byte[] openWriter,
        RowType rowType,
        DeliveryGuarantee guarantee,
        String transactionalIdPrefix,
        Properties producerProperties,
        WriterSettings settings,
        RegistrySchema keySchema,
        RegistrySchema valueSchema,
        String table)
        implements Serializable {

    /** A plan without schemas of a registry. */
    public NativePlan(
            byte[] openWriter,
            RowType rowType,
            DeliveryGuarantee guarantee,
            String transactionalIdPrefix,
            Properties producerProperties,
            WriterSettings settings,
            String table) {
        this(openWriter, rowType, guarantee, transactionalIdPrefix, producerProperties, settings, null, null, table);
    }

    /** The message for the daemon, still without session and owner. */
    OpenWriter.Builder openMessage() {
        try {
            return OpenWriter.newBuilder().mergeFrom(openWriter);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("The job graph holds a damaged Penstock plan; submit the job again.", e);
        }
    }

    /** The topics that may get rows, for messages. */
    String topicsInWords() {
        OpenWriter.Builder open = openMessage();
        if (!open.getTopic().isEmpty()) {
            return open.getTopic();
        }
        List<String> topics = open.getShape().getTopicsList();
        return topics.isEmpty() ? "of each row" : String.join(", ", topics);
    }
}
