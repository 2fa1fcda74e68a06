package dev.penstock.flink.sink;

import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of one sink's native writers; they travel in the job graph.
 *
 * @param fallback what happens when the daemon cannot do the job
 * @param socketDirectory the folder of the daemon's sockets, or null: the environment variable {@code
 *     PENSTOCK_SOCKET_DIR} of the TaskManager, else {@code /run/penstock}
 * @param connectTimeout bound of the connection to the daemon and of opening a writer
 * @param linger the longest time that a row waits for its batch to fill
 * @param batchRows the most rows of one batch
 * @param warmPool whether the producer of the next epoch is prepared ahead
 */
public record WriterSettings(
        FallbackMode fallback,
        String socketDirectory,
        Duration connectTimeout,
        Duration linger,
        int batchRows,
        boolean warmPool)
        implements Serializable {

    /** Environment variable that names the daemon's folder where the option does not. */
    public static final String SOCKET_DIRECTORY_VARIABLE = "PENSTOCK_SOCKET_DIR";

    /** The daemon's folder where neither option nor environment names one. */
    public static final String DEFAULT_SOCKET_DIRECTORY = "/run/penstock";

    /** The folder of the daemon's sockets as this process sees it. */
    Path resolveSocketDirectory() {
        if (socketDirectory != null) {
            return Path.of(socketDirectory);
        }
        String variable = System.getenv(SOCKET_DIRECTORY_VARIABLE);
        return Path.of(variable == null || variable.isEmpty() ? DEFAULT_SOCKET_DIRECTORY : variable);
    }
}
