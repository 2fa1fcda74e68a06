package dev.penstock.flink.table;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.flink.table.types.logical.RowType;

/**
 * The rows that the planner gives to a Kafka sink: the physical columns, then the metadata columns in the order of
 * {@code applyWritableMetadata}, as KafkaDynamicSink reads them.
 */
final class ConsumedRow {

    /** What Flink's planner puts before the name of a metadata column (DynamicSinkUtils). */
    private static final String METADATA_PREFIX = "$metadata$";

    private final RowType type;
    private final Map<String, Integer> metadata = new LinkedHashMap<>();

    private ConsumedRow(RowType type) {
        this.type = type;
    }

    static ConsumedRow of(RowType physical, List<MetadataColumn> written) {
        List<RowType.RowField> fields = new ArrayList<>(physical.getFields());
        Set<String> names = new HashSet<>(physical.getFieldNames());
        for (MetadataColumn column : written) {
            String name = METADATA_PREFIX + column.key();
            while (!names.add(name)) {
                name += "_";
            }
            fields.add(new RowType.RowField(name, column.type()));
        }
        ConsumedRow row = new ConsumedRow(new RowType(physical.isNullable(), fields));
        for (int i = 0; i < written.size(); i++) {
            row.metadata.put(written.get(i).key(), physical.getFieldCount() + i);
        }
        return row;
    }

    /** All fields. The names are unique; the sink itself goes by position. */
    RowType type() {
        return type;
    }

    /** The keys of the metadata columns. */
    Set<String> metadataKeys() {
        return metadata.keySet();
    }

    /** The position of the metadata column with this key. */
    OptionalInt metadata(String key) {
        Integer position = metadata.get(key);
        return position == null ? OptionalInt.empty() : OptionalInt.of(position);
    }
}
