package dev.penstock.flink.table;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicSink;
import org.apache.flink.streaming.connectors.kafka.table.KafkaDynamicTableFactory;
import org.apache.flink.table.connector.sink.DynamicTableSink;

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
        return PenstockOptions.with(super.optionalOptions());
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        ArgumentsFactory factory = new ArgumentsFactory(this, false, false);
        KafkaDynamicSink stock = (KafkaDynamicSink) factory.createDynamicTableSink(context);
        return new PenstockDynamicSink(stock, factory.arguments(), PenstockTable.of(this, context));
    }
}
