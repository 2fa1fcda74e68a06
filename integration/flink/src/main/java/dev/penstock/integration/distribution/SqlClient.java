package dev.penstock.integration.distribution;

import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.JavaCommand;
import dev.penstock.integration.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Flink's SQL client, run as {@code sql-client.sh} runs it. */
final class SqlClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(240);

    private final String classPath;
    private final FlinkCluster cluster;

    SqlClient(String classPath, FlinkCluster cluster) {
        this.classPath = classPath;
        this.cluster = cluster;
    }

    /**
     * Runs a script to its end.
     *
     * @param options of the command line
     * @return what the client prints; an error of a statement stands only there
     */
    String run(String script, List<String> options) throws IOException {
        Path folder = Workspace.temporary("sql-client");
        try {
            Path file = Files.writeString(folder.resolve("script.sql"), script);
            List<String> command = new ArrayList<>(List.of(
                    "env", "FLINK_CONF_DIR=" + cluster.configuration(), JavaCommand.java(), "-Xmx512m"));
            command.addAll(JavaCommand.flinkModuleFlags());
            command.addAll(List.of("-cp", classPath, "org.apache.flink.table.client.SqlClient", "-f", file.toString()));
            command.addAll(options);
            return ChildProcess.run(command, TIMEOUT);
        } finally {
            Workspace.delete(folder);
        }
    }
}
