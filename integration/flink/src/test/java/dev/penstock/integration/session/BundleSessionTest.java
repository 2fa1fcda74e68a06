package dev.penstock.integration.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.JarFolder;
import dev.penstock.integration.harness.NoexecFolder;
import dev.penstock.integration.harness.Workspace;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The jars that users install, without the libraries that they have inside, against a real daemon. */
@Timeout(300)
class BundleSessionTest {
    private static final String GRPC = "dev.penstock.shaded.io.grpc.netty.shaded.io.netty.native.workdir";

    private static DaemonProcess daemon;

    @BeforeAll
    static void start() {
        daemon = DaemonProcess.start();
    }

    @AfterAll
    static void stop() {
        daemon.close();
    }

    static Stream<Path> jars() {
        return Stream.of(JarFolder.bundle(), JarFolder.sqlKafkaBundle());
    }

    @ParameterizedTest
    @MethodSource("jars")
    void theJarAloneOpensASession(Path jar) {
        assertEquals("OPEN", SessionProbe.run(List.of(), List.of(), with(jar), daemon.directory()));
        daemon.awaitNothingLeft(Duration.ofSeconds(60));
    }

    /** Netty's property has moved with its package, and so has the name in our message. */
    @Test
    void theMessageNamesThePropertyAsItIsInTheJar() {
        Path folder = Workspace.temporary("noexec");
        try {
            String said = SessionProbe.run(NoexecFolder.around(folder), List.of("-D" + GRPC + "=" + folder),
                    with(JarFolder.bundle()), daemon.directory());
            assertTrue(said.startsWith("FALL_BACK gRPC's shaded netty cannot load its epoll library"), said);
            assertTrue(said.contains("must not be mounted noexec, now " + GRPC + " = " + folder), said);
        } finally {
            Workspace.delete(folder);
        }
    }

    /** The probe, Flink and the jar; nothing else of Penstock, and none of the libraries that are inside. */
    private static String with(Path jar) {
        Stream<String> others = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(element -> !element.contains("/client-java/") && !element.contains("/dev/penstock/")
                        && !element.contains("/io/grpc/") && !element.contains("/io/perfmark/") && !element.contains("/com/google/"));
        return Stream.concat(Stream.of(jar.toString()), others).collect(Collectors.joining(File.pathSeparator));
    }
}
