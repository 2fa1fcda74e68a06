package dev.penstock.flink.table;

import dev.penstock.flink.table.messages.Order;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.formats.protobuf.serialize.PbRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * A class loader as Flink has one for a job's jar, which is asked before Flink's own: messages, flink-protobuf and the
 * protobuf library that flink-protobuf was built with.
 */
final class UserJar extends URLClassLoader {

    private static final List<String> OWN =
            List.of("com.google.protobuf.", "org.apache.flink.formats.protobuf.", "dev.penstock.flink.table.messages.");

    private UserJar(URL[] jars) {
        super(jars, UserJar.class.getClassLoader());
    }

    static UserJar open() throws MalformedURLException {
        return new UserJar(
                new URL[] {
                    Path.of("target", "user-jar", "protobuf-java.jar").toUri().toURL(),
                    Order.class.getProtectionDomain().getCodeSource().getLocation(),
                    PbRowDataSerializationSchema.class.getProtectionDomain().getCodeSource().getLocation(),
                });
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (OWN.stream().noneMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    /** Flink's serializer of this loader. */
    @SuppressWarnings("unchecked")
    SerializationSchema<RowData> serializer(RowType type, String messageClass)
            throws ReflectiveOperationException, IOException {
        Class<?> config = loadClass("org.apache.flink.formats.protobuf.PbFormatConfig");
        Object made = config.getConstructor(String.class, boolean.class, boolean.class, String.class)
                .newInstance(messageClass, false, false, "");
        return (SerializationSchema<RowData>) loadClass(PbRowDataSerializationSchema.class.getName())
                .getConstructor(RowType.class, config)
                .newInstance(type, made);
    }
}
