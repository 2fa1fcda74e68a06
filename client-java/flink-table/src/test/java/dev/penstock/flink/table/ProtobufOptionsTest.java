package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import dev.penstock.flink.table.messages.MoneyOuterClass;
import dev.penstock.flink.table.messages.Order;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.ProtobufFormat;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.protobuf.PbFormatConfig;
import org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProtobufOptionsTest {

    private static final DataType MONEY =
            DataTypes.ROW(
                    DataTypes.FIELD("amount", DataTypes.BIGINT()), DataTypes.FIELD("currency", DataTypes.STRING()));
    private static final DataType TIMESTAMP =
            DataTypes.ROW(DataTypes.FIELD("seconds", DataTypes.BIGINT()), DataTypes.FIELD("nanos", DataTypes.INT()));
    private static final List<Column> COLUMNS =
            List.of(
                    Column.physical("name", DataTypes.STRING()),
                    Column.physical("id", DataTypes.BIGINT()),
                    Column.physical("state", DataTypes.STRING()),
                    Column.physical("price", MONEY),
                    Column.physical("at", TIMESTAMP),
                    Column.physical("taxes", DataTypes.ARRAY(MONEY)),
                    Column.physical("discounts", DataTypes.MAP(DataTypes.STRING(), MONEY)),
                    Column.physical("tags", DataTypes.ARRAY(DataTypes.STRING())));

    @Test
    void theMessageTravelsWithAllThatItDependsOn() throws Exception {
        ProtobufFormat format = admit(COLUMNS, Map.of("protobuf.write-null-string-literal", "n/a '~'")).getProtobuf();
        assertEquals("penstock.flink.table.Order", format.getMessageName());
        assertEquals("n/a '~'", format.getNullStringLiteral());
        List<FileDescriptorProto> files =
                FileDescriptorSet.parseFrom(format.getFileDescriptorSet()).getFileList();
        assertEquals(
                List.of(
                        "google/protobuf/timestamp.proto",
                        "penstock/flink/table/money.proto",
                        "penstock/flink/table/orders.proto"),
                files.stream().map(FileDescriptorProto::getName).toList());
        assertEquals(Order.getDescriptor().getFile().toProto(), files.get(2));
    }

    @Test
    void withoutTheOptionTheNullLiteralIsEmpty() throws Exception {
        assertEquals("", admit(COLUMNS, Map.of()).getProtobuf().getNullStringLiteral());
    }

    @Test
    void optionsOfReadingChangeNothing() throws Exception {
        assertEquals(
                admit(COLUMNS, Map.of()),
                admit(COLUMNS, Map.of("protobuf.ignore-parse-errors", "true", "protobuf.read-default-values", "true")));
    }

    /** What Java's compiler would read as something else, or the daemon would not get unchanged. */
    @ParameterizedTest
    @ValueSource(strings = {"\"", "\\t", "\t", "é", "\u007f", "a\uD83D"})
    void literalsThatAreNotPlainAreStock(String literal) {
        String option = "protobuf.write-null-string-literal";
        assertReason("'" + option + "'", COLUMNS, Map.of(option, literal));
    }

    /** Their class has another parent than that of other messages. */
    @Test
    void messagesWithExtensionsAreNative() throws Exception {
        String note = MoneyOuterClass.Note.class.getName();
        List<Column> columns = List.of(Column.physical("id", DataTypes.BIGINT()));
        assertEquals(
                "penstock.flink.table.Note",
                admit(columns, Map.of("protobuf.message-class-name", note)).getProtobuf().getMessageName());
    }

    @Test
    void groupsAreStock() throws Exception {
        DataType exchange = DataTypes.ROW(DataTypes.FIELD("rate", DataTypes.DOUBLE()));
        DataType money = DataTypes.ROW(DataTypes.FIELD("exchange", exchange));
        String reason = "'penstock.flink.table.Money.exchange' is a group";
        assertReason(reason, List.of(Column.physical("price", money)), Map.of());
        assertReason(reason, List.of(Column.physical("taxes", DataTypes.ARRAY(money))), Map.of());
        assertReason(
                reason, List.of(Column.physical("discounts", DataTypes.MAP(DataTypes.STRING(), money))), Map.of());
    }

    /** Flink validates the type of this column, and then generates Java that does not compile. */
    @Test
    void columnsForWhichFlinkDoesNotOpenAreStock() {
        List<Column> columns = List.of(Column.physical("state", DataTypes.SMALLINT()));
        assertReason("cannot write the table's columns into '" + Order.class.getName() + "'", columns, Map.of());
    }

    @Test
    void anotherSerializerIsStock() throws Exception {
        RowType type = RowType.of(new LogicalType[] {new IntType()}, new String[] {"nanos"});
        String timestamp = "com.google.protobuf.Timestamp";
        var made = new PbRowDataSerializationSchema(type, new PbFormatConfig(timestamp, false, false, "a"));
        Map<String, String> options = Map.of("message-class-name", timestamp, "write-null-string-literal", "a");
        ProtobufOptions.parse(options, type, made);
        NotNative e = assertThrows(
                NotNative.class,
                () -> ProtobufOptions.parse(Map.of("message-class-name", timestamp), type, made));
        assertTrue(e.getMessage().contains("is not the one that the table's options describe"), e.getMessage());
    }

    /** A class that Flink takes, since it has a descriptor, but whose bytes are another class's. */
    public static final class NotGenerated {
        private NotGenerated() {}

        /** The method that Flink looks for. */
        public static Descriptor getDescriptor() {
            return Order.getDescriptor();
        }
    }

    @Test
    void classesThatProtocDidNotGenerateAreStock() {
        assertReason(
                "generate it again", COLUMNS, Map.of("protobuf.message-class-name", NotGenerated.class.getName()));
    }

    @Test
    void aMessageInAnOuterClassIsNative() throws Exception {
        List<Column> columns = List.of(Column.physical("amount", DataTypes.BIGINT()));
        Format format =
                admit(columns, Map.of("protobuf.message-class-name", MoneyOuterClass.Money.class.getName()));
        assertEquals("penstock.flink.table.Money", format.getProtobuf().getMessageName());
    }

    /** A user's jar with messages, Flink's format and the protobuf library of Flink, none of which Penstock sees. */
    @Test
    void aUsersJarMayHoldEverything() throws Exception {
        ClassLoader own = ProtobufOptionsTest.class.getClassLoader();
        try (UserJar jar = UserJar.open()) {
            Class<?> order = jar.loadClass(Order.class.getName());
            assertNotSame(Order.class, order);
            Thread.currentThread().setContextClassLoader(jar);
            Map<String, String> options = Map.of("message-class-name", order.getName());
            Format format =
                    ProtobufOptions.parse(options, rowType(), jar.serializer(rowType(), order.getName()));
            Thread.currentThread().setContextClassLoader(own);
            assertArrayEquals(admit(COLUMNS, Map.of()).toByteArray(), format.toByteArray());
        } finally {
            Thread.currentThread().setContextClassLoader(own);
        }
    }

    /** Flink looks for the class in the thread's class loader, not in its own. */
    @Test
    void aClassThatTheThreadDoesNotSeeIsStock() throws Exception {
        ClassLoader own = ProtobufOptionsTest.class.getClassLoader();
        ProtobufMessage.load(Order.class.getName());
        try {
            Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
            NotNative e = assertThrows(NotNative.class, () -> ProtobufMessage.load(Order.class.getName()));
            assertTrue(e.getMessage().contains("does not load"), e.getMessage());
        } finally {
            Thread.currentThread().setContextClassLoader(own);
        }
    }

    /** Flink itself refuses such a table when its job starts. */
    @Test
    void messagesOfAnotherLibraryThanTheFormatsAreStock() throws Exception {
        ClassLoader own = ProtobufOptionsTest.class.getClassLoader();
        SerializationSchema<RowData> stock = new PbRowDataSerializationSchema(
                rowType(), new PbFormatConfig(Order.class.getName(), false, false, ""));
        try (UserJar jar = UserJar.open()) {
            Thread.currentThread().setContextClassLoader(jar);
            NotNative e = assertThrows(
                    NotNative.class,
                    () -> ProtobufOptions.parse(Map.of("message-class-name", Order.class.getName()), rowType(), stock));
            assertTrue(e.getMessage().contains("Flink's protobuf format refuses the table"), e.getMessage());
        } finally {
            Thread.currentThread().setContextClassLoader(own);
        }
    }

    private static RowType rowType() {
        return RowType.of(
                false,
                COLUMNS.stream().map(c -> c.getDataType().getLogicalType()).toArray(LogicalType[]::new),
                COLUMNS.stream().map(Column::getName).toArray(String[]::new));
    }

    private static Format admit(List<Column> columns, Map<String, String> changes) throws Exception {
        Map<String, String> options = new HashMap<>(SinkTables.OPTIONS);
        options.put("format", "protobuf");
        options.put("protobuf.message-class-name", Order.class.getName());
        options.putAll(changes);
        byte[] open = SinkTables.sink(options, columns, Map.of()).plan(SinkTables.context()).openWriter();
        return OpenWriter.parseFrom(open).getValueFormat();
    }

    private static void assertReason(String named, List<Column> columns, Map<String, String> changes) {
        NotNative e = assertThrows(NotNative.class, () -> admit(columns, changes));
        assertTrue(e.getMessage().contains(named), () -> e.getMessage() + Arrays.toString(e.getStackTrace()));
    }
}
