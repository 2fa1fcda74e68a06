package dev.penstock.flink.sink;

import java.io.Serializable;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;

/**
 * One part of the records, key or value, in a format that writes the id of its schema into each record; the id comes
 * from a schema registry. Made at planning time, shipped in the job graph.
 *
 * @param subject the registry's name for the versions of the schema
 * @param url where the registry is
 * @param serializer the stock sink's serializer of this part, not opened; registers the schema with all options of the
 *     table
 * @param part what the stock sink gives to the serializer
 */
public record RegistrySchema(String subject, String url, SerializationSchema<RowData> serializer, RowPart part)
        implements Serializable {

    /** The row of one part of the records. */
    @FunctionalInterface
    public interface RowPart extends Serializable {

        /** The part of {@code row}; null when stock serializes nothing for it, as in a tombstone. */
        RowData of(RowData row);
    }
}
