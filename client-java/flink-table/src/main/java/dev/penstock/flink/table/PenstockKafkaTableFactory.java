package dev.penstock.flink.table;

import dev.penstock.flink.sink.WriterSettings;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaPartitioner;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicTableFactory;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/**
 * The connector {@code penstock-kafka}: takes the options of {@code kafka}, parses and validates them by the stock
 * factory's own code, and writes through penstockd where that gives the same records. Reading is stock's.
 */
public class PenstockKafkaTableFactory extends KafkaDynamicTableFactory {

    /** The value of the option {@code connector}. */
    public static final String IDENTIFIER = "penstock-kafka";

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return withPenstockOptions(super.optionalOptions());
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        StockFactory stockFactory = new StockFactory();
        KafkaDynamicSink stock = (KafkaDynamicSink) stockFactory.createDynamicTableSink(context);
        ReadableConfig options = FactoryUtil.createTableFactoryHelper(this, context).getOptions();
        WriterSettings settings = PenstockOptions.settings(options);
        return new PenstockDynamicSink(
                stock,
                stockFactory.arguments,
                TableOptions.of(context),
                options.get(PenstockOptions.ENABLED),
                settings,
                context.getObjectIdentifier().asSummaryString());
    }

    private static Set<ConfigOption<?>> withPenstockOptions(Set<ConfigOption<?>> stock) {
        Set<ConfigOption<?>> options = new HashSet<>(stock);
        options.addAll(PenstockOptions.all());
        return options;
    }

    /** Makes one stock sink, under this connector's name, and keeps what the stock code parsed for it. */
    private static final class StockFactory extends KafkaDynamicTableFactory {
        private SinkArguments arguments;

        @Override
        public String factoryIdentifier() {
            return IDENTIFIER;
        }

        @Override
        public Set<ConfigOption<?>> optionalOptions() {
            return withPenstockOptions(super.optionalOptions());
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
                            transactionNamingStrategy);
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
}
