package dev.penstock.integration.parity;

import dev.penstock.proto.v1.Format;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** One setting of the options of one value format that change bytes, for both sides. */
interface FormatOptions {
    /**
     * Flink's own serializer with these options, opened.
     *
     * @throws RuntimeException when the format refuses the type
     */
    SerializationSchema<RowData> oracle(RowType type) throws Exception;

    /** The same options as a table names them, without the format's prefix. */
    Map<String, String> tableOptions();

    /** The same options as the daemon gets them. */
    Format message();

    /** The id that a schema registry gave to the type's schema, which the daemon is told; empty without a registry. */
    default OptionalInt schemaId() {
        return OptionalInt.empty();
    }
}
