package dev.penstock.integration.parity;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Message;
import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.ProtobufFormat;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.protobuf.PbFormatConfig;
import org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** The options of Flink's {@code protobuf} format: {@code message-class-name} and {@code write-null-string-literal}. */
final class ProtobufOptions implements FormatOptions {
    private static final String[] NULL_LITERALS = {"", "a", "NULL", "with space", "'{}'", "x".repeat(200)};

    private final Message message;
    private final String nullLiteral;
    private RowType openedFor;
    private PbRowDataSerializationSchema opened;

    ProtobufOptions(Message message, String nullLiteral) {
        this.message = message;
        this.nullLiteral = nullLiteral;
    }

    static ProtobufOptions random(Message message, SplittableRandom random) {
        return new ProtobufOptions(message, NULL_LITERALS[random.nextInt(NULL_LITERALS.length)]);
    }

    /** Opened once for a type, since that compiles Java; the serializer has no state between rows. */
    @Override
    public SerializationSchema<RowData> oracle(RowType type) throws Exception {
        if (!type.equals(openedFor)) {
            PbFormatConfig config =
                    new PbFormatConfig.PbFormatConfigBuilder()
                            .messageClassName(message.getClass().getName())
                            .writeNullStringLiterals(nullLiteral)
                            .build();
            opened = new PbRowDataSerializationSchema(type, config);
            try {
                opened.open(null);
            } catch (Exception e) {
                throw new IllegalArgumentException(e);
            }
            openedFor = type;
        }
        return opened;
    }

    @Override
    public Map<String, String> tableOptions() {
        return Map.of("message-class-name", message.getClass().getName(), "write-null-string-literal", nullLiteral);
    }

    @Override
    public Format message() {
        Set<FileDescriptor> files = new LinkedHashSet<>();
        collect(message.getDescriptorForType().getFile(), files);
        FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
        files.forEach(file -> set.addFile(file.toProto()));
        return Format.newBuilder()
                .setProtobuf(
                        ProtobufFormat.newBuilder()
                                .setFileDescriptorSet(set.build().toByteString())
                                .setMessageName(message.getDescriptorForType().getFullName())
                                .setNullStringLiteral(nullLiteral))
                .build();
    }

    private static void collect(FileDescriptor file, Set<FileDescriptor> into) {
        file.getDependencies().forEach(dependency -> collect(dependency, into));
        into.add(file);
    }

    @Override
    public String toString() {
        return "protobuf " + message.getDescriptorForType().getFullName() + " null literal '" + nullLiteral + "'";
    }
}
