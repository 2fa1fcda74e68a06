package dev.penstock.integration.distribution;

import dev.penstock.integration.harness.JarFolder;
import dev.penstock.integration.harness.Workspace;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Flink as it is downloaded, and the jars beside it, as {@code make distribution} lays them out in build/distribution. */
final class Distribution {
    private static final String REMEDY = "run `make distribution`";

    private final Path folder;

    private Distribution(Path folder) {
        this.folder = folder;
    }

    static Distribution unpacked() {
        Path folder = Workspace.root().resolve("build/distribution");
        if (!Files.exists(folder.resolve("unpacked")) || !Files.exists(folder.resolve("pyflink/bin/flink"))) {
            throw new IllegalStateException(folder + " is missing or not whole: " + REMEDY);
        }
        return new Distribution(folder);
    }

    /** The class path of a JobManager or TaskManager whose lib folder has these jars beside Flink's own. */
    String classPath(List<Path> added) {
        return joined(Stream.concat(in("pyflink/lib").all().stream(), added.stream()));
    }

    /** The class path of the SQL client with the same lib folder. */
    String sqlClientClassPath(List<Path> added) {
        return classPath(added) + File.pathSeparator
                + joined(Stream.concat(in("pyflink/opt").all().stream(), Stream.of(jar("flink-sql-gateway"))));
    }

    /** A jar that users download beside Flink, by its name without version. */
    Path jar(String name) {
        return in("jars").only(name + "-\\d.*\\.jar");
    }

    /** The folder of Flink's scripts. */
    Path bin() {
        return folder.resolve("pyflink/bin");
    }

    /** A user's jar with the classes of protobuf messages. */
    Path messages() {
        return in("messages").only("messages\\.jar");
    }

    private JarFolder in(String name) {
        return new JarFolder(folder.resolve(name), REMEDY);
    }

    private static String joined(Stream<Path> jars) {
        return jars.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}
