package dev.penstock.flink.table;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.InvalidProtocolBufferException;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;

/**
 * A message class that protoc generated, known by reflection only: it and its protobuf library belong to the user's
 * class loader. What crosses over to Penstock's protobuf library are bytes.
 */
final class ProtobufMessage {

    /**
     * The package of the user's protobuf library. Joined at run time: in the bundle jar Penstock's own library has another name,
     * and a constant that names the package would be changed with it.
     */
    private static final String USERS_PROTOBUF = String.join(".", "com", "google", "protobuf");
    /**
     * The parents of the classes that protoc 26 and newer generate, the second for messages with a range of extensions.
     * Older ones have other parents, and some of them leave -0.0 out.
     */
    private static final Set<String> GENERATED_PARENTS = Set.of(
            USERS_PROTOBUF + ".GeneratedMessage", USERS_PROTOBUF + ".GeneratedMessage$ExtendableMessage");

    private final Object defaultInstance;

    private ProtobufMessage(Object defaultInstance) {
        this.defaultInstance = defaultInstance;
    }

    /** Loads the class from where {@code PbFormatUtils.getDescriptor} loads it. */
    static ProtobufMessage load(String className) throws NotNative {
        try {
            Class<?> type = Class.forName(className, true, Thread.currentThread().getContextClassLoader());
            if (!isGenerated(type)) {
                throw tooOld(type);
            }
            return new ProtobufMessage(type.getMethod("getDefaultInstance").invoke(null));
        } catch (ReflectiveOperationException e) {
            throw new NotNative("'protobuf.message-class-name' is '%s', which does not load: %s", className, e);
        }
    }

    /** The full name of the message in its .proto file. */
    String fullName() throws NotNative {
        return (String) call(descriptor(), "getFullName");
    }

    /** A FileDescriptorSet with the message's file and all that it depends on; what is needed comes first. */
    byte[] fileDescriptorSet() throws NotNative {
        Map<String, ByteString> files = new LinkedHashMap<>();
        collect(call(descriptor(), "getFile"), files);
        FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
        try {
            for (ByteString file : files.values()) {
                set.addFileBuilder().mergeFrom(file);
            }
        } catch (InvalidProtocolBufferException e) {
            throw new NotNative("the descriptor of '%s' is damaged: %s", defaultInstance.getClass().getName(), e);
        }
        return set.build().toByteArray();
    }

    private static void collect(Object file, Map<String, ByteString> files) throws NotNative {
        String name = (String) call(file, "getName");
        if (files.containsKey(name)) {
            return;
        }
        for (Object dependency : (List<?>) call(file, "getDependencies")) {
            collect(dependency, files);
        }
        files.put(name, ByteString.copyFrom((byte[]) call(call(file, "toProto"), "toByteArray")));
    }

    /**
     * Refuses what the daemon does not write as the generated classes do.
     *
     * @param row the columns, which Flink has found to be fields
     */
    void requireNative(RowType row) throws NotNative {
        requireNative(defaultInstance, row);
    }

    private static void requireNative(Object message, RowType row) throws NotNative {
        if (!isGenerated(message.getClass())) {
            throw tooOld(message.getClass());
        }
        Object builder = call(message, "newBuilderForType");
        for (RowType.RowField column : row.getFields()) {
            Object field = call(call(message, "getDescriptorForType"), "findFieldByName", column.getName());
            if (call(field, "getType").toString().equals("GROUP")) {
                throw new NotNative(
                        "field '%s' is a group or has delimited encoding; native are messages with a length",
                        call(field, "getFullName"));
            }
            LogicalType type = column.getType();
            if (type instanceof MapType map && map.getValueType() instanceof RowType values) {
                Object entry = call(builder, "newBuilderForField", field);
                Object value = call(call(entry, "getDescriptorForType"), "findFieldByName", "value");
                requireNative(instance(entry, value), values);
            } else if (type instanceof ArrayType array && array.getElementType() instanceof RowType elements) {
                requireNative(instance(builder, field), elements);
            } else if (type instanceof RowType nested) {
                requireNative(instance(builder, field), nested);
            }
        }
    }

    /** An empty message of a field's type. */
    private static Object instance(Object builder, Object field) throws NotNative {
        return call(call(builder, "newBuilderForField", field), "getDefaultInstanceForType");
    }

    private Object descriptor() throws NotNative {
        return call(defaultInstance, "getDescriptorForType");
    }

    private static boolean isGenerated(Class<?> type) {
        return type.getSuperclass() != null && GENERATED_PARENTS.contains(type.getSuperclass().getName());
    }

    private static NotNative tooOld(Class<?> type) {
        return new NotNative(
                "'%s' is not a message class that protoc 26 or newer generated for Java; generate it again",
                type.getName());
    }

    /** Calls the public method with this name that takes these arguments. */
    private static Object call(Object target, String name, Object... arguments) throws NotNative {
        try {
            for (Method method : target.getClass().getMethods()) {
                if (method.getName().equals(name) && !method.isBridge() && accepts(method, arguments)) {
                    return method.invoke(target, arguments);
                }
            }
            throw new NoSuchMethodException(target.getClass().getName() + "." + name);
        } catch (ReflectiveOperationException e) {
            throw new NotNative("the protobuf library is not one that Penstock knows (%s); use that of Flink 2.2", e);
        }
    }

    private static boolean accepts(Method method, Object[] arguments) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (!types[i].isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }
}
