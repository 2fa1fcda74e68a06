package dev.penstock.flink.table;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.factories.DynamicTableFactory;

/** The options of one table as text, and which formats they name; by the rules of the stock factory. */
final class TableOptions {

    private final Map<String, String> options;

    private TableOptions(Map<String, String> options) {
        this.options = options;
    }

    /**
     * The options of the catalog's table, overlaid with those that a compiled plan carries. FactoryUtil overlays only
     * the options that a factory declares as forwardable; where the two rules differ, {@link Formats} finds the
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

    /** The format of the value: {@code format}, else {@code value.format}. */
    FormatChoice valueFormat() {
        boolean plain = options.containsKey("format");
        return choice("value", plain ? "format" : "value.format", plain ? "" : "value.");
    }

    /** The format of the key, {@code key.format}. */
    FormatChoice keyFormat() {
        return choice("key", "key.format", "key.");
    }

    private FormatChoice choice(String part, String option, String prefix) {
        String identifier = options.getOrDefault(option, "");
        String ownPrefix = prefix + identifier + ".";
        Map<String, String> own = new HashMap<>();
        options.forEach(
                (key, value) -> {
                    if (key.startsWith(ownPrefix)) {
                        own.put(key.substring(ownPrefix.length()), value);
                    }
                });
        SchemaRegistry.completeSubject(identifier, part, options.get("topic"), own);
        return new FormatChoice(part, identifier, own);
    }

    /** The value of an option, or null. */
    String get(String key) {
        return options.get(key);
    }
}
