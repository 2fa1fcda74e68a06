package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.JavaCommand;
import dev.penstock.integration.harness.LocalCluster;
import dev.penstock.integration.harness.NoexecFolder;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With its temporary folder mounted noexec a TaskManager cannot reach the daemon; the stock writer does the job. */
@Timeout(600)
class NoexecJobTest {
    private static final long ROWS = 1_000;

    /** The TaskManager: a JVM of its own, because its temporary folder is a property of the JVM. */
    public static final class Job {
        private Job() {}

        /** Arguments: bootstrap servers, folder of the daemon's sockets, topic. */
        public static void main(String[] args) {
            try (LocalCluster cluster = LocalCluster.start(1, 1)) {
                SqlJob job = SqlJob.on(cluster.rest()).set("execution.checkpointing.interval", "300 ms");
                FlinkJob submitted = job.submit(Tables.bids(ROWS, 0)
                        + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.optionsWithFallback(Path.of(args[1])), args[2],
                                "exactly-once", ", 'properties.bootstrap.servers' = '" + args[0] + "'")
                        + Tables.copyBids());
                submitted.awaitFinished(Bed.JOB_TIMEOUT);
            }
            System.exit(0);
        }
    }

    @Test
    void theStockWriterDoesTheJobAndSaysWhy() throws Exception {
        String topic = Bed.topics().create("noexec", 1);
        Path folder = Workspace.temporary("noexec");
        Path log = Files.createTempFile("penstock-noexec", ".log");
        try (DaemonProcess daemon = DaemonProcess.start()) {
            List<String> command = new ArrayList<>(NoexecFolder.around(folder));
            command.add(JavaCommand.java());
            command.addAll(JavaCommand.flinkModuleFlags());
            command.addAll(List.of("-Djava.io.tmpdir=" + folder, "-Dpenstock.test.log=WARN", "-cp",
                    System.getProperty("java.class.path"), Job.class.getName(), Bed.broker().bootstrapServers(),
                    daemon.directory().toString(), topic));
            ChildProcess child = ChildProcess.start("noexec-job", command, Map.of(), log);
            assertEquals(0, child.awaitEnd(Duration.ofSeconds(400)), child::logTail);

            String said = Files.readString(log);
            assertTrue(said.contains("runs on the stock Kafka writer: Flink's shaded netty cannot load its epoll"),
                    said);
            assertTrue(said.contains("java.io.tmpdir = " + folder), said);
            Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
            assertEquals(0, daemon.status().counter("sessions_opened"));
        } finally {
            Workspace.delete(folder);
            Files.deleteIfExists(log);
        }
    }
}
