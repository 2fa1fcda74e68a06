package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;

class SchemaIdsTest {

    private static final SerializationSchema.InitializationContext CONTEXT =
            new TestWriterContext().asSerializationSchemaInitializationContext();

    /** A serializer that behaves as Flink's do: frames, or fails. */
    private static final class Serializer implements SerializationSchema<RowData> {
        private static final long serialVersionUID = 1L;

        private final byte[] record;
        private final Exception failure;
        private transient InitializationContext opened;
        private transient int records;

        Serializer(byte[] record, Exception failure) {
            this.record = record;
            this.failure = failure;
        }

        @Override
        public void open(InitializationContext context) {
            opened = context;
        }

        @Override
        public byte[] serialize(RowData row) {
            records++;
            if (failure != null) {
                throw new IllegalStateException("Failed to serialize row.", failure);
            }
            return record;
        }
    }

    /** As the registry client's, which is relocated in Flink's jars. */
    private static final class RestClientException extends Exception {
        private static final long serialVersionUID = 1L;

        RestClientException(String message) {
            super(message);
        }
    }

    private static Serializer framed(int id) {
        return new Serializer(new byte[] {0, (byte) (id >>> 24), (byte) (id >>> 16), (byte) (id >>> 8), (byte) id, 2}, null);
    }

    private static RegistrySchema schema(Serializer serializer) {
        return new RegistrySchema("topic-value", "http://user:secret@registry:8081", serializer, row -> row);
    }

    @Test
    void theIdIsToldOnceAndBeforeTheFirstBatch() throws Exception {
        try (WriterFixture fixture = new WriterFixture(WriterFixture.settings(1))) {
            Serializer serializer = framed(0x7F010203);
            fixture.schemaIds = new SchemaIds(null, schema(serializer), CONTEXT);
            PlainPenstockWriter writer = fixture.plain(true);
            writer.write(row(1, "a"), null);
            writer.write(row(2, "b"), null);
            assertEquals(List.of("begin 1", "define value " + 0x7F010203, "submit 1", "submit 1"), fixture.calls());
            assertSame(CONTEXT, serializer.opened);
            assertEquals(1, serializer.records);
        }
    }

    @Test
    void keyAndValueAreLearnedFromTheFirstRowThatHasThem() throws Exception {
        FakeDaemonWriter daemon = new FakeDaemonWriter();
        RegistrySchema value =
                new RegistrySchema("v", "u", framed(8), row -> row.getRowKind() == RowKind.DELETE ? null : row);
        SchemaIds ids = new SchemaIds(schema(framed(-7)), value, CONTEXT);
        RowData delete = row(1, "a");
        delete.setRowKind(RowKind.DELETE);
        ids.learn(delete, daemon);
        assertFalse(ids.known());
        ids.learn(delete, daemon);
        ids.learn(row(1, "a"), daemon);
        assertTrue(ids.known());
        assertEquals(List.of("define key -7", "define value 8"), daemon.calls);
    }

    @Test
    void withoutRegistriesThereIsNothingToLearn() {
        assertTrue(new SchemaIds(null, null, CONTEXT).known());
    }

    @Test
    void failuresNameSubjectUrlCauseAndWhatToDo() throws Exception {
        IOException refused = failure(new Serializer(null, new IOException("Could not register schema in registry",
                new RestClientException("Schema being registered is incompatible; error code: 409"))));
        assertMessage(refused, "'topic-value'", "http://***@registry:8081 was refused by the registry", "error code: 409",
                "compatibility rule");
        IOException unreachable = failure(new Serializer(null, new ConnectException("Connection refused")));
        assertMessage(unreachable, "'topic-value'", "could not be asked for", "Connection refused", "'url'");
        IOException row = failure(new Serializer(null, new NullPointerException("null value for (non-nullable) int")));
        assertMessage(row, "'topic-value'", "could not be learned", "null value for (non-nullable) int", "correct the row");
        for (byte[] record : new byte[][] {null, {0, 1, 2, 3}, {1, 0, 0, 0, 1, 2}}) {
            assertMessage(failure(new Serializer(record, null)), "'topic-value'", "penstock.enabled");
        }
    }

    private static IOException failure(Serializer serializer) throws Exception {
        try (WriterFixture fixture = new WriterFixture(WriterFixture.settings(1))) {
            fixture.schemaIds = new SchemaIds(null, schema(serializer), CONTEXT);
            PlainPenstockWriter writer = fixture.plain(true);
            IOException e = assertThrows(IOException.class, () -> writer.write(row(1, "a"), null));
            assertEquals(List.of("begin 1"), fixture.calls());
            return e;
        }
    }

    private static void assertMessage(IOException e, String... parts) {
        for (String part : parts) {
            assertTrue(e.getMessage().contains(part), e::getMessage);
        }
        assertFalse(e.getMessage().contains("secret"), e::getMessage);
    }
}
