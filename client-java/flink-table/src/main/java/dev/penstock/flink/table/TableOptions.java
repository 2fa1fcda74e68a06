package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.factories.DynamicTableFactory;

/** The options of one table as text, and which value format they name; by the rules of the stock factory. */
final class TableOptions {

    private final Map<String, String> options;

    private TableOptions(Map<String, String> options) {
        this.options = options;
    }

    /**
     * The options of the catalog's table, overlaid with those that a compiled plan carries. FactoryUtil overlays only
     * the options that a factory declares as forwardable; where the two rules differ, {@link ValueFormats} finds the
     * serializer different from stock's and refuses.
     */
    static TableOptions of(DynamicTableFactory.Context context) {
        Map<String, String> merged = new HashMap<>(context.getCatalogTable().getOptions());
        merged.putAll(context.getEnrichmentOptions());
        return new TableOptions(merged);
    }

    static TableOptions of(Map<String, String> options) {
        return new TableOptions(Map.copyOf(options));
    }

    /** The identifier of the value format: {@code format}, else {@code value.format}. */
    String valueFormat() {
        return options.getOrDefault("format", options.getOrDefault("value.format", ""));
    }

    /** The value format's own options, without their prefix, and those that the stock factory adds. */
    Map<String, String> valueFormatOptions() {
        String prefix = (options.containsKey("format") ? "" : "value.") + valueFormat() + ".";
        Map<String, String> own = new HashMap<>();
        options.forEach(
                (key, value) -> {
                    if (key.startsWith(prefix)) {
                        own.put(key.substring(prefix.length()), value);
                    }
                });
        SchemaRegistry.completeSubject(valueFormat(), "value", options.get("topic"), own);
        return own;
    }

    /** The value of an option, or null. */
    String get(String key) {
        return options.get(key);
    }
}
