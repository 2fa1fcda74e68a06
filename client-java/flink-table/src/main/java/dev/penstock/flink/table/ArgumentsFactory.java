package dev.penstock.flink.table;

import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaPartitioner;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicTableFactory;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.types.DataType;

/**
 * The stock {@code kafka} factory under another connector's name and with that one's options. Makes one sink, and keeps
 * what the stock code parsed for it.
 */
final class ArgumentsFactory extends KafkaDynamicTableFactory {

    private final DynamicTableFactory connector;
    private final boolean upsert;
    private final boolean buffered;
    private SinkArguments arguments;

    /**
     * Creates a factory that accepts what {@code connector} accepts.
     *
     * @param upsert see {@link SinkArguments#upsert}
     * @param buffered see {@link SinkArguments#buffered}
     */
    ArgumentsFactory(DynamicTableFactory connector, boolean upsert, boolean buffered) {
        this.connector = connector;
        this.upsert = upsert;
        this.buffered = buffered;
    }

    /** What the sink was made of; null before there is one. */
    SinkArguments arguments() {
        return arguments;
    }

    @Override
    public String factoryIdentifier() {
        return connector.factoryIdentifier();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        Set<ConfigOption<?>> options = new HashSet<>(super.optionalOptions());
        options.addAll(connector.requiredOptions());
        options.addAll(connector.optionalOptions());
        return options;
    }

    @Override
    public Set<ConfigOption<?>> forwardOptions() {
        return connector.forwardOptions();
    }

    @Override
    protected KafkaDynamicSink createKafkaTableSink(
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
            TransactionNamingStrategy transactionNamingStrategy) {
        arguments =
                new SinkArguments(
                        physicalDataType,
                        keyEncodingFormat,
                        valueEncodingFormat,
                        keyProjection,
                        valueProjection,
                        keyPrefix,
                        topics,
                        topicPattern,
                        properties,
                        partitioner,
                        deliveryGuarantee,
                        parallelism,
                        transactionalIdPrefix,
                        transactionNamingStrategy,
                        upsert,
                        buffered);
        return super.createKafkaTableSink(
                physicalDataType,
                keyEncodingFormat,
                valueEncodingFormat,
                keyProjection,
                valueProjection,
                keyPrefix,
                topics,
                topicPattern,
                properties,
                partitioner,
                deliveryGuarantee,
                parallelism,
                transactionalIdPrefix,
                transactionNamingStrategy);
    }
}
