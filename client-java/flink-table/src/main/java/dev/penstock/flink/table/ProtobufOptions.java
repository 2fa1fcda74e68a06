package dev.penstock.flink.table;

import com.google.protobuf.ByteString;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.ProtobufFormat;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The options of Flink's {@code protobuf} format (formats.md 7, {@code PbFormatOptions}).
 *
 * <p>The format's classes, the user's generated class and the protobuf library that they share often lie together in
 * the user's own jar, under a class loader that Penstock's classes do not see. Therefore nothing of them is linked
 * here: the serializer is made by reflection, next to the stock sink's.
 */
final class ProtobufOptions {

    /** The value of the option {@code format}. */
    static final String IDENTIFIER = "protobuf";

    private static final String CONFIG_CLASS = "org.apache.flink.formats.protobuf.PbFormatConfig";
    private static final String SERIALIZER_CLASS =
            "org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema";

    private static final ConfigOption<String> MESSAGE_CLASS_NAME =
            ConfigOptions.key("message-class-name").stringType().noDefaultValue();
    private static final ConfigOption<String> WRITE_NULL_STRING_LITERAL =
            ConfigOptions.key("write-null-string-literal").stringType().defaultValue("");
    private static final ConfigOption<Boolean> IGNORE_PARSE_ERRORS =
            ConfigOptions.key("ignore-parse-errors").booleanType().defaultValue(false);
    private static final ConfigOption<Boolean> READ_DEFAULT_VALUES =
            ConfigOptions.key("read-default-values").booleanType().defaultValue(false);

    private static final Set<String> KNOWN =
            Set.of(
                    MESSAGE_CLASS_NAME.key(),
                    WRITE_NULL_STRING_LITERAL.key(),
                    // These two are about reading.
                    IGNORE_PARSE_ERRORS.key(),
                    READ_DEFAULT_VALUES.key());

    private final String className;
    private final String nullLiteral;
    private final boolean ignoreParseErrors;
    private final boolean readDefaultValues;

    private ProtobufOptions(Configuration options) {
        className = options.get(MESSAGE_CLASS_NAME);
        nullLiteral = options.get(WRITE_NULL_STRING_LITERAL);
        ignoreParseErrors = options.get(IGNORE_PARSE_ERRORS);
        readDefaultValues = options.get(READ_DEFAULT_VALUES);
    }

    /**
     * Reads the options and proves them as {@link JsonOptions#parse} does; and proves that Flink's serializer opens,
     * for it is then that Flink compiles the Java that it generates.
     */
    static Format parse(Map<String, String> options, RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        FormatRules.refuseUnknown(IDENTIFIER, options, KNOWN::contains);
        ProtobufOptions parsed = new ProtobufOptions(Configuration.fromMap(options));
        parsed.requirePlainLiteral();
        SerializationSchema<RowData> ours = parsed.serializer(rowType, stock);
        if (!FormatRules.sameForm(ours, stock)) {
            throw FormatRules.unproven(IDENTIFIER);
        }
        parsed.requireOpens(ours);
        ProtobufMessage message = ProtobufMessage.load(parsed.className);
        message.requireNative(rowType);
        return Format.newBuilder()
                .setProtobuf(
                        ProtobufFormat.newBuilder()
                                .setFileDescriptorSet(ByteString.copyFrom(message.fileDescriptorSet()))
                                .setMessageName(message.fullName())
                                .setNullStringLiteral(parsed.nullLiteral))
                .build();
    }

    /** Flink pastes the literal into the Java that it generates, unescaped. */
    private void requirePlainLiteral() throws NotNative {
        boolean plain = nullLiteral.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '"' && c != '\\');
        if (!plain) {
            throw new NotNative(
                    "'%s.%s' is '%s'; native are printable ASCII characters without quote and backslash",
                    IDENTIFIER, WRITE_NULL_STRING_LITERAL.key(), nullLiteral);
        }
    }

    /** The serializer that these options make, out of the classes of {@code stock}. */
    @SuppressWarnings("unchecked")
    private SerializationSchema<RowData> serializer(RowType rowType, SerializationSchema<RowData> stock)
            throws NotNative {
        if (!stock.getClass().getName().equals(SERIALIZER_CLASS)) {
            throw FormatRules.unproven(IDENTIFIER);
        }
        try {
            Class<?> configClass = Class.forName(CONFIG_CLASS, true, stock.getClass().getClassLoader());
            Object config =
                    configClass
                            .getConstructor(String.class, boolean.class, boolean.class, String.class)
                            .newInstance(className, ignoreParseErrors, readDefaultValues, nullLiteral);
            return (SerializationSchema<RowData>)
                    stock.getClass().getConstructor(RowType.class, configClass).newInstance(rowType, config);
        } catch (InvocationTargetException e) {
            throw new NotNative("Flink's protobuf format refuses the table: %s", rootOf(e));
        } catch (ReflectiveOperationException e) {
            throw new NotNative("flink-protobuf is not the one that Penstock knows (%s); use that of Flink 2.2", e);
        }
    }

    private void requireOpens(SerializationSchema<RowData> serializer) throws NotNative {
        try {
            serializer.open(null);
        } catch (Exception e) {
            throw new NotNative(
                    "Flink's protobuf format cannot write the table's columns into '%s': %s", className, rootOf(e));
        }
    }

    private static Throwable rootOf(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
