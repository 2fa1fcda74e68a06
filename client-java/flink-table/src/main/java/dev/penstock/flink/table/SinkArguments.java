package dev.penstock.flink.table;

import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaPartitioner;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;

/**
 * What the stock factory has parsed and validated: the arguments of {@code
 * KafkaDynamicTableFactory.createKafkaTableSink}, in its order and with its names and nullness, and what only an upsert
 * table has.
 *
 * @param upsert whether deletions are written as records without a value
 * @param buffered whether {@code sink.buffer-flush.*} is on; upsert tables only
 */
record SinkArguments(
        DataType physicalDataType,
        EncodingFormat<SerializationSchema<RowData>> keyEncodingFormat,
        EncodingFormat<SerializationSchema<RowData>> valueEncodingFormat,
        int[] keyProjection,
        int[] valueProjection,
        String keyPrefix,
        List<String> topics,
        Pattern topicPattern,
        Properties properties,
        KafkaPartitioner<RowData> partitioner,
        DeliveryGuarantee deliveryGuarantee,
        Integer parallelism,
        String transactionalIdPrefix,
        TransactionNamingStrategy transactionNamingStrategy,
        boolean upsert,
        boolean buffered) {}
