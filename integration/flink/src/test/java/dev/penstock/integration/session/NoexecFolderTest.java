package dev.penstock.integration.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.NoexecFolder;
import dev.penstock.integration.harness.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Netty unpacks native libraries to a temporary folder; where that is mounted noexec, the message says what to do. */
@Timeout(300)
class NoexecFolderTest {
    private static final String FLINK = "org.apache.flink.shaded.netty4.io.netty.native.workdir";
    private static final String GRPC = "io.grpc.netty.shaded.io.netty.native.workdir";

    private static DaemonProcess daemon;
    private static Path folder;

    @BeforeAll
    static void start() {
        daemon = DaemonProcess.start();
        folder = Workspace.temporary("noexec");
    }

    @AfterAll
    static void stop() {
        daemon.close();
        Workspace.delete(folder);
    }

    @ParameterizedTest
    @CsvSource({
        "java.io.tmpdir, Flink's shaded netty, " + FLINK,
        FLINK + ", Flink's shaded netty, " + FLINK,
        GRPC + ", gRPC's shaded netty, " + GRPC})
    void theMessageNamesThePropertyAndWhatToDo(String property, String netty, String remedy) {
        String said = probe("-D" + property + "=" + folder);
        assertTrue(said.startsWith("FALL_BACK " + netty + " cannot load its epoll library"), said);
        assertTrue(said.contains("must not be mounted noexec, now " + property + " = " + folder), said);
        assertTrue(said.contains("-Djava.io.tmpdir or -D" + remedy + " (env.java.opts.taskmanager)"), said);
        daemon.awaitNothingLeft(Duration.ofSeconds(60));
    }

    @Test
    void theRemedyOfTheMessageHelps() {
        Path good = Workspace.temporary("exec");
        try {
            assertEquals("OPEN", probe("-Djava.io.tmpdir=" + folder, "-D" + FLINK + "=" + good,
                    "-D" + GRPC + "=" + good));
        } finally {
            Workspace.delete(good);
        }
    }

    private static String probe(String... flags) {
        return SessionProbe.run(NoexecFolder.around(folder), List.of(flags), System.getProperty("java.class.path"),
                daemon.directory());
    }
}
