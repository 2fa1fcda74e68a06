package dev.penstock.integration.harness;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A file system on which nothing can be executed, as hardened machines mount their temporary folder. It exists in the
 * mount namespace of one child process alone, so that the kernel removes it with the child, however that ends.
 */
public final class NoexecFolder {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String MOUNT_AND_RUN =
            "folder=$1; shift; mount -t tmpfs -o noexec,mode=1777,size=256m penstock-test \"$folder\" && exec \"$@\"";

    private NoexecFolder() {}

    /**
     * The beginning of a command line; what follows runs with the folder mounted noexec.
     *
     * @throws IllegalStateException when this process may not mount
     */
    public static List<String> around(Path folder) {
        List<String> command = new ArrayList<>(List.of("unshare", "--mount"));
        if (!"root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("--user", "--map-root-user"));
        }
        command.addAll(List.of("--", "sh", "-c", MOUNT_AND_RUN, "mount-noexec", folder.toString()));
        List<String> trial = new ArrayList<>(command);
        trial.add("true");
        try {
            ChildProcess.run(trial, TIMEOUT);
        } catch (RuntimeException e) {
            throw new IllegalStateException("this test mounts a folder noexec in a mount namespace of its own, which"
                    + " this process may not do: run it as root with CAP_SYS_ADMIN (in Docker --cap-add SYS_ADMIN), or"
                    + " allow user namespaces", e);
        }
        return command;
    }
}
