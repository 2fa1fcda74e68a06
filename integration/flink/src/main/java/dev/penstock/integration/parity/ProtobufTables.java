package dev.penstock.integration.parity;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.penstock.integration.parity.messages.CodeSize;
import dev.penstock.integration.parity.messages.Edition;
import dev.penstock.integration.parity.messages.Implicit;
import dev.penstock.integration.parity.messages.Lists;
import dev.penstock.integration.parity.messages.Maps;
import dev.penstock.integration.parity.messages.Oneofs;
import dev.penstock.integration.parity.messages.Optional;
import dev.penstock.integration.parity.messages.Proto2;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BinaryType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.CharType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.FloatType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.SmallIntType;
import org.apache.flink.table.types.logical.TinyIntType;
import org.apache.flink.table.types.logical.VarBinaryType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * Random tables over the test messages: some of the fields in any order, and now and then a column that both sides must
 * refuse.
 */
final class ProtobufTables {
    private static final int MAX_DEPTH = 3;

    private static final List<Message> MESSAGES =
            List.of(
                    Implicit.getDefaultInstance(),
                    Optional.getDefaultInstance(),
                    Lists.getDefaultInstance(),
                    Maps.getDefaultInstance(),
                    Oneofs.getDefaultInstance(),
                    Proto2.Legacy.getDefaultInstance(),
                    Proto2.LegacyLists.getDefaultInstance(),
                    Proto2.Strict.getDefaultInstance(),
                    CodeSize.ByReflection.getDefaultInstance(),
                    Edition.getDefaultInstance());

    private final SplittableRandom random;

    private ProtobufTables(SplittableRandom random) {
        this.random = random;
    }

    static ParityTable random(SplittableRandom random) {
        ProtobufTables tables = new ProtobufTables(random);
        Message message = MESSAGES.get(random.nextInt(MESSAGES.size()));
        RowType type = tables.row(message.getDescriptorForType(), 0, false);
        return new ParityTable(type, ProtobufOptions.random(message, random));
    }

    /** Some fields of a message; those that are required nearly always. */
    private RowType row(Descriptor message, int depth, boolean nullable) {
        int keep = 1 + random.nextInt(depth == 0 ? 10 : 4);
        List<FieldDescriptor> fields = new ArrayList<>();
        for (FieldDescriptor field : message.getFields()) {
            boolean tooDeep = depth == MAX_DEPTH && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
            boolean wanted = field.isRequired() ? random.nextInt(30) != 0 : random.nextInt(10) < keep;
            if (wanted && !tooDeep) {
                fields.add(random.nextInt(fields.size() + 1), field);
            }
        }
        if (fields.isEmpty()) {
            fields.add(message.getFields().get(0));
        }
        String[] names = fields.stream().map(FieldDescriptor::getName).toArray(String[]::new);
        if (random.nextInt(300) == 0) {
            names[0] = "no_such_field";
        }
        LogicalType[] types =
                fields.stream().map(field -> column(field, depth)).toArray(LogicalType[]::new);
        return RowType.of(nullable, types, names);
    }

    private LogicalType column(FieldDescriptor field, int depth) {
        boolean nullable = random.nextInt(5) != 0 && (!field.isRequired() || random.nextInt(20) == 0);
        if (random.nextInt(500) == 0) {
            return wrong(nullable);
        }
        if (field.isMapField()) {
            List<FieldDescriptor> entry = field.getMessageType().getFields();
            return new MapType(nullable, value(entry.get(0), depth, true), value(entry.get(1), depth, true));
        }
        return field.isRepeated()
                ? new ArrayType(nullable, value(field, depth, random.nextInt(5) != 0))
                : value(field, depth, nullable);
    }

    private LogicalType value(FieldDescriptor field, int depth, boolean nullable) {
        return switch (field.getJavaType()) {
            case INT -> new IntType(nullable);
            case LONG -> new BigIntType(nullable);
            case FLOAT -> new FloatType(nullable);
            case DOUBLE -> new DoubleType(nullable);
            case BOOLEAN -> new BooleanType(nullable);
            case STRING -> text(nullable);
            case BYTE_STRING ->
                    random.nextBoolean()
                            ? new BinaryType(nullable, 1 + random.nextInt(20))
                            : new VarBinaryType(nullable, VarBinaryType.MAX_LENGTH);
            case ENUM -> enumeration(nullable);
            case MESSAGE -> row(field.getMessageType(), depth + 1, nullable);
        };
    }

    private LogicalType enumeration(boolean nullable) {
        return switch (random.nextInt(3)) {
            case 0 -> new IntType(nullable);
            case 1 -> new BigIntType(nullable);
            default -> text(nullable);
        };
    }

    private LogicalType text(boolean nullable) {
        return random.nextBoolean()
                ? new CharType(nullable, 1 + random.nextInt(20))
                : new VarCharType(nullable, VarCharType.MAX_LENGTH);
    }

    /** A type that fits few fields or none. */
    private LogicalType wrong(boolean nullable) {
        return switch (random.nextInt(8)) {
            case 0 -> new TinyIntType(nullable);
            case 1 -> new SmallIntType(nullable);
            case 2 -> new DateType(nullable);
            case 3 -> new ArrayType(nullable, new IntType());
            case 4 -> new MapType(nullable, new IntType(), new BigIntType());
            case 5 -> RowType.of(nullable, new LogicalType[] {new IntType()}, new String[] {"f_int32"});
            case 6 -> new FloatType(nullable);
            default -> new VarCharType(nullable, VarCharType.MAX_LENGTH);
        };
    }
}
