package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A TaskManager that is gone at once, between a seal and its commit or behind it (kafka.md E2). The daemon lives on and
 * has to give up what belonged to that process.
 */
@Timeout(400)
class TaskManagerKilledTest {
    private static final long ROWS = 6_000;
    private static final long RATE = 2_000;
    private static final int TASK_MANAGERS = 2;
    private static final Duration DEATH_BOUND = Duration.ofSeconds(90);

    private static Path folder;
    private static Path rules;
    private static FlinkCluster cluster;
    private static DaemonProcess daemon;

    @BeforeAll
    static void open() {
        folder = Workspace.temporary("faults");
        rules = folder.resolve("rules");
        cluster = FlinkCluster.start(TASK_MANAGERS, 1, Map.of("JAVA_TOOL_OPTIONS", "-Dpenstock.faultpoints=" + rules));
        daemon = DaemonProcess.start();
    }

    @AfterAll
    static void close() {
        cluster.close();
        daemon.close();
        Workspace.delete(folder);
    }

    /** Before the checkpoint is complete; before its commit; after its commit and before the next checkpoint. */
    @ParameterizedTest
    @ValueSource(strings = {"after-seal", "before-commit", "after-commit"})
    void everyRowOnce(String place) throws Exception {
        String topic = Bed.topics().create("task-manager-killed", 1);
        Workspace.replace(rules, place + " halt after=1");
        FlinkJob job = SqlJob.on(cluster.rest())
                .explainedBy(daemon::diagnosis)
                .set("parallelism.default", "1")
                .set("execution.checkpointing.interval", "500 ms")
                .submit(Tables.bids(ROWS, RATE)
                        + Tables.bidSink(Sink.PENSTOCK.options(daemon), topic, "exactly-once") + Tables.copyBids());
        Deadline.in(DEATH_BOUND).await("the death of a TaskManager " + place, cluster::hasDeadTaskManager);
        Workspace.replace(rules, "");
        cluster.replaceDeadTaskManagers();

        job.awaitFinished(Bed.JOB_TIMEOUT);
        assertTrue(job.hasFailed(), "the job has not noticed");
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
        daemon.awaitNothingLeft(DEATH_BOUND);
    }
}
