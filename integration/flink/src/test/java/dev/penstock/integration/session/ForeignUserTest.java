package dev.penstock.integration.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Workspace;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A TaskManager of a user who may not reach the daemon's sockets. Root may reach everything, so the client runs as
 * nobody, in a JVM of its own; where the tests do not run as root, the folder is closed to their own user instead.
 */
@Timeout(300)
class ForeignUserTest {
    private static final boolean ROOT = "root".equals(System.getProperty("user.name"));
    /** The user and group nobody, on every Linux. */
    private static final List<String> AS_NOBODY =
            List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--");

    @Test
    void theMessageNamesFolderModeOwnerAndWhatToDo() throws Exception {
        Path jars = Workspace.temporary("probe");
        try (DaemonProcess daemon = DaemonProcess.start()) {
            Path sockets = daemon.directory();
            // The private folder around it is of the harness, not of the daemon.
            open(sockets.getParent());
            if (!ROOT) {
                Files.setPosixFilePermissions(sockets, PosixFilePermissions.fromString("---------"));
            }
            String said = SessionProbe.run(ROOT ? AS_NOBODY : List.of(), List.of(), readableClassPath(jars), sockets);
            assertTrue(said.startsWith("FALL_BACK no permission to connect to " + sockets.resolve("session.sock")),
                    said);
            assertTrue(said.contains(sockets + " has mode " + (ROOT ? "rwxr-x---, owner root" : "---------")), said);
            assertTrue(said.contains("this process runs as " + (ROOT ? "nobody" : System.getProperty("user.name"))),
                    said);
            assertTrue(said.contains("change socket_mode and directory_mode in penstockd's configuration"), said);
            Files.setPosixFilePermissions(sockets, PosixFilePermissions.fromString("rwxr-x---"));
            daemon.awaitNothingLeft(Duration.ofSeconds(60));
            assertEquals(0, daemon.status().counter("sessions_opened"));
        } finally {
            Workspace.delete(jars);
        }
    }

    /** Copies what the client needs: build folders and the local repository may lie where nobody can read. */
    private static String readableClassPath(Path folder) throws IOException {
        open(folder);
        List<String> copies = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path source = Path.of(entry);
            String name = source.getFileName().toString();
            boolean needed = !name.startsWith("flink-") || name.startsWith("flink-shaded-netty");
            if (needed && Files.exists(source)) {
                Path copy = folder.resolve(copies.size() + "-" + name);
                copyTree(source, copy);
                copies.add(copy.toString());
            }
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void copyTree(Path source, Path target) throws IOException {
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                open(Files.createDirectories(target.resolve(source.relativize(folder).toString())));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String inside = source.relativize(file).toString();
                open(Files.copy(file, inside.isEmpty() ? target : target.resolve(inside)));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void open(Path path) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
