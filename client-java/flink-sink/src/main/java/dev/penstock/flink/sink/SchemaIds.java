package dev.penstock.flink.sink;

import dev.penstock.proto.v1.DefineSchemas;
import dev.penstock.session.DaemonException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.ExceptionUtils;

/**
 * Learns the ids that a schema registry gives to the schemas of keys and values, and tells them to the daemon. As in
 * the stock sink, a schema is registered when the first row is serialized: stock's own serializer does it, on the task
 * thread, and the id is read from what it writes (ConfluentSchemaRegistryCoder: a zero byte, then the id, big endian).
 * How long that may take is a matter of the registry's client.
 */
final class SchemaIds {

    private static final int FRAME_BYTES = 5;

    private final SerializationSchema.InitializationContext context;

    /** What is still to be learned; null when the id is known, or when the format needs none. */
    private RegistrySchema key;

    private RegistrySchema value;

    /**
     * Creates the state in which nothing is known.
     *
     * @param key the schema of keys, null when they need no id
     * @param value the schema of values, null when they need no id
     * @param context with which stock opens its serializers
     */
    SchemaIds(RegistrySchema key, RegistrySchema value, SerializationSchema.InitializationContext context) {
        this.key = key;
        this.value = value;
        this.context = context;
    }

    /** Whether there is nothing to learn, or nothing any more; cheap enough for every row. */
    boolean known() {
        return key == null && value == null;
    }

    /**
     * Learns what the stock sink would learn from {@code row}. To be called for each row before it is written, until
     * everything is known: then no batch can reach the daemon before the ids that it needs.
     *
     * @throws IOException naming subject and url, when the registry gives no id
     */
    void learn(RowData row, DaemonWriter daemon) throws IOException, DaemonException {
        OptionalInt keyId = id(key, row);
        OptionalInt valueId = id(value, row);
        if (keyId.isEmpty() && valueId.isEmpty()) {
            return;
        }
        DefineSchemas.Builder ids = DefineSchemas.newBuilder();
        keyId.ifPresent(ids::setKeySchemaId);
        valueId.ifPresent(ids::setValueSchemaId);
        daemon.defineSchemas(ids.build());
        key = keyId.isPresent() ? null : key;
        value = valueId.isPresent() ? null : value;
    }

    private OptionalInt id(RegistrySchema schema, RowData row) throws IOException {
        RowData part = schema == null ? null : schema.part().of(row);
        if (part == null) {
            return OptionalInt.empty();
        }
        byte[] record = serialize(schema, part);
        if (record == null || record.length < FRAME_BYTES || record[0] != 0) {
            throw new IOException(
                    describe(schema) + " is not to be seen in what Flink's serializer wrote; its format is not known to"
                            + " Penstock: set 'penstock.enabled' = 'false' for this table and report it.");
        }
        return OptionalInt.of(ByteBuffer.wrap(record).getInt(1));
    }

    private byte[] serialize(RegistrySchema schema, RowData part) throws IOException {
        try {
            schema.serializer().open(context);
            return schema.serializer().serialize(part);
        } catch (Exception e) {
            ExceptionUtils.rethrowIfFatalErrorOrOOM(e);
            throw new IOException(explain(schema, e), e);
        }
    }

    /** The registry's client throws IOException when it cannot reach the registry, and its own when that refuses. */
    private static String explain(RegistrySchema schema, Exception e) {
        // The class is the client's, which Flink's jars relocate, so only its simple name is known.
        Optional<Throwable> refusal =
                ExceptionUtils.findThrowable(e, t -> t.getClass().getSimpleName().equals("RestClientException"));
        if (refusal.isPresent()) {
            return describe(schema) + " was refused by the registry: " + refusal.get().getMessage() + ". Make the table's"
                    + " columns compatible with the versions that the subject has, relax the subject's compatibility"
                    + " rule, correct the registry's credentials, or name another 'subject'.";
        }
        Optional<IOException> transport = ExceptionUtils.findThrowable(e, IOException.class);
        if (transport.isPresent()) {
            return describe(schema) + " could not be asked for: " + transport.get() + ". Check that 'url' is right and"
                    + " that the registry runs and can be reached from the TaskManagers.";
        }
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return describe(schema) + " could not be learned, because Flink's serializer failed: " + root
                + ". The stock sink would fail at this row, too: correct the row, or the options of the registry.";
    }

    private static String describe(RegistrySchema schema) {
        // User and password may stand in the url.
        String url = schema.url().replaceAll("//[^/@]*@", "//***@");
        return "The id of subject '" + schema.subject() + "' in the schema registry " + url;
    }
}
