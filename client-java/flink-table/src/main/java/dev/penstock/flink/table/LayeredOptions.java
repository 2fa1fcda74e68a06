package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Options of a table; what the table does not set, the session does ({@code SET}), else the cluster's configuration, else the
 * option's default.
 *
 * @param table the options of the table alone
 * @param session Flink's configuration as the session sees it, the cluster's below it
 */
record LayeredOptions(ReadableConfig table, ReadableConfig session) implements ReadableConfig {

    @Override
    public <T> T get(ConfigOption<T> option) {
        return getOptional(option).orElseGet(option::defaultValue);
    }

    @Override
    public <T> Optional<T> getOptional(ConfigOption<T> option) {
        return table.getOptional(option).or(() -> session.getOptional(option));
    }

    @Override
    public Map<String, String> toMap() {
        Map<String, String> all = new HashMap<>(session.toMap());
        all.putAll(table.toMap());
        return all;
    }
}
