package dev.penstock.session;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * What a session is opened with.
 *
 * @param directory folder that holds {@code session.sock} and {@code api.sock} (option {@code penstock.socket-dir})
 * @param budgetBytes budget of this process in bytes ({@code taskmanager.memory.task.off-heap.size}); 0 is left for the
 *     daemon to refuse, because it knows the words to say
 * @param clientName free text that identifies the TaskManager in logs and in the daemon's status
 * @param flinkVersion version of the running Flink, for example "2.2.1"
 * @param jacksonVersion version of the Jackson that Flink shades, for example "2.18.2"
 * @param connectTimeout how long connecting, Hello and Welcome may take together, and each later request on the session
 *     socket (a lease, a return); positive
 */
public record SessionSettings(
        Path directory,
        long budgetBytes,
        String clientName,
        String flinkVersion,
        String jacksonVersion,
        Duration connectTimeout) {

    /** Name of the raw session socket inside the folder. */
    public static final String SESSION_SOCKET = "session.sock";

    /** Name of the gRPC socket inside the folder. */
    public static final String API_SOCKET = "api.sock";

    /** Checks the values; the folder becomes absolute so that one folder is one session, however it was spelled. */
    public SessionSettings {
        directory = Objects.requireNonNull(directory, "directory").toAbsolutePath().normalize();
        Objects.requireNonNull(clientName, "clientName");
        Objects.requireNonNull(flinkVersion, "flinkVersion");
        Objects.requireNonNull(jacksonVersion, "jacksonVersion");
        if (budgetBytes < 0) {
            throw new IllegalArgumentException("budgetBytes is " + budgetBytes + "; it must not be negative");
        }
        if (connectTimeout.isNegative() || connectTimeout.isZero()) {
            throw new IllegalArgumentException("connectTimeout is " + connectTimeout + "; it must be positive");
        }
    }

    /** Path of the raw session socket. */
    public Path sessionSocket() {
        return directory.resolve(SESSION_SOCKET);
    }

    /** Path of the gRPC socket. */
    public Path apiSocket() {
        return directory.resolve(API_SOCKET);
    }
}
