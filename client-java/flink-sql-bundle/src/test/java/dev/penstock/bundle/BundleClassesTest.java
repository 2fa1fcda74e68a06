package dev.penstock.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.GeneratedMessage;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.flink.table.factories.Factory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the relocated classes do beside a user's own protobuf library. */
class BundleClassesTest {

    /** The second one's class extends that of messages with extensions. */
    @ParameterizedTest
    @ValueSource(strings = {"google.protobuf.Timestamp", "google.protobuf.DescriptorProtos$FieldOptions"})
    void theUsersMessagesAreKnownByTheirOwnNames(String name) throws Exception {
        String className = "com." + name;
        assertTrue(GeneratedMessage.class.isAssignableFrom(Class.forName(className)));
        try (InstalledJar jar = new InstalledJar(Flavour.KAFKA)) {
            Class<?> type = jar.load("dev.penstock.flink.table.ProtobufMessage");
            Method load = accessible(type, "load", String.class);
            Object message = inContext(jar, () -> load.invoke(null, className));
            assertEquals(name.replace("DescriptorProtos$", ""), accessible(type, "fullName").invoke(message));
            byte[] set = (byte[]) accessible(type, "fileDescriptorSet").invoke(message);
            assertTrue(FileDescriptorSet.parseFrom(set).getFile(0).getName().startsWith("google/protobuf/"));
        }
    }

    /** The user's library is none of ours: a message of Penstock's own is no message of a user. */
    @Test
    void ourMessagesAreOfOurLibrary() throws Exception {
        try (InstalledJar jar = new InstalledJar(Flavour.KAFKA)) {
            Class<?> parent = jar.load("dev.penstock.proto.v1.Hello").getSuperclass();
            assertEquals("dev.penstock.shaded.com.google.protobuf.GeneratedMessage", parent.getName());
            assertSame(jar.loader(), parent.getClassLoader());
        }
    }

    /** Names of native libraries, and those of the methods inside of them, follow the package. */
    @ParameterizedTest
    @EnumSource
    void nettysEpollIsFound(Flavour flavour) throws Exception {
        try (InstalledJar jar = new InstalledJar(flavour)) {
            Class<?> epoll = jar.load("dev.penstock.shaded.io.grpc.netty.shaded.io.netty.channel.epoll.Epoll");
            assertNull(epoll.getMethod("unavailabilityCause").invoke(null));
        }
    }

    /** The scheme unix has its resolver and its transport from two service files, each by its new name. */
    @ParameterizedTest
    @EnumSource
    void theChannelToTheDaemonIsMade(Flavour flavour) throws Exception {
        // Stays open: gRPC's threads end a second after their last channel, and load classes for that.
        InstalledJar jar = new InstalledJar(flavour);
        Method open = accessible(jar.load("dev.penstock.session.ApiChannel"), "open", Path.class);
        Object channel = inContext(jar, () -> open.invoke(null, Path.of("/nowhere/api.sock")));
        jar.load("dev.penstock.shaded.io.grpc.ManagedChannel").getMethod("shutdownNow").invoke(channel);
    }

    @Test
    void flinkFindsEveryFactory() throws Exception {
        try (InstalledJar jar = new InstalledJar(Flavour.KAFKA)) {
            Set<String> found = StreamSupport.stream(ServiceLoader.load(Factory.class, jar.loader()).spliterator(), false)
                    .map(Factory::factoryIdentifier).collect(Collectors.toSet());
            assertEquals(Set.of("penstock", "penstock-kafka", "penstock-upsert-kafka"), found);
        }
    }

    private interface Call {
        Object make() throws Exception;
    }

    /** With the class loader that a task has. */
    private static Object inContext(InstalledJar jar, Call call) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(jar.loader());
        try {
            return call.make();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Method accessible(Class<?> type, String name, Class<?>... parameters) throws NoSuchMethodException {
        Method method = type.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }
}
