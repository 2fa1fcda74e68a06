package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An exactly-once job whose daemon dies, hangs or fails, or whose task fails, at one place in the life of an epoch. The
 * rows are exact in each case, and no transaction stays open.
 */
@Timeout(300)
class FaultPointTest {
    private static final long ROWS = 6_000;
    private static final long RATE = 2_000;
    private static final int CHECKPOINT_MILLIS = 500;
    private static final Duration FAULT_BOUND = Duration.ofSeconds(60);
    /** The file that the tasks of this JVM's MiniCluster read, see the pom. */
    private static final Path TASK_FAULTS = Path.of(System.getProperty("penstock.faultpoints"));

    private static Bed bed;
    private static DaemonProcess daemon;

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
        daemon = DaemonProcess.startWithFaults();
    }

    @AfterAll
    static void close() {
        bed.close();
        daemon.close();
    }

    @AfterEach
    void nothingLeft() {
        Workspace.replace(TASK_FAULTS, "");
        daemon.faults("");
        if (!daemon.process().isAlive()) {
            daemon.restart();
        }
        bed.requireNothingLeft();
        daemon.awaitNothingLeft(FAULT_BOUND);
    }

    /** After so many hits: two writers, and all of them are past their first epoch. */
    @ParameterizedTest
    @ValueSource(strings = {"in-init after=4", "after-begin after=3", "in-claim after=5", "in-encode after=5",
        "after-last-row after=2", "in-flush after=2", "in-flush after=2 late", "after-flush after=3",
        "after-reply after=2", "in-destroy after=3"})
    void daemonKilledThere(String place) throws Exception {
        String[] words = place.split(" ");
        String delay = words.length > 2 ? words[0] + " delay for=3ms " + words[1] + "\n" : "";
        String topic = Bed.topics().create("killed", 2);
        daemon.faults(delay + words[0] + " kill " + words[1]);
        FlinkJob job = submit(topic);
        Deadline.in(FAULT_BOUND).await("the death of the daemon at " + place, () -> !daemon.process().isAlive());
        daemon.faults("");
        daemon.restart();
        requireExactAfterRestart(job, topic);
    }

    @ParameterizedTest
    @ValueSource(strings = {"after-begin after=3", "in-claim after=5", "in-encode after=5", "after-last-row after=2",
        "in-flush after=2", "after-flush after=3", "after-reply after=2"})
    void daemonFailsThere(String place) throws Exception {
        String topic = Bed.topics().create("failed", 2);
        daemon.faults(place.replace(" ", " error "));
        requireExactAfterRestart(submit(topic), topic);
    }

    /** As long as it hangs nothing may be taken for done. A daemon that wakes up when others have its ids is OldDaemonMatrix. */
    @ParameterizedTest
    @ValueSource(strings = {"in-init after=4", "after-flush after=3"})
    void daemonHangsThere(String place) throws Exception {
        String topic = Bed.topics().create("hung", 2);
        daemon.faults(place.replace(" ", " stop "));
        FlinkJob job = submit(topic, ", 'penstock.connect-timeout' = '2 s', 'properties.max.block.ms' = '3000'"
                + ", 'properties.request.timeout.ms' = '2000', 'properties.delivery.timeout.ms' = '4000'");
        try {
            job.awaitProgress("a failure that names the daemon",
                    () -> job.failures().contains("is stopped or overloaded"), FAULT_BOUND);
        } finally {
            daemon.faults("");
            daemon.process().resume();
        }
        requireExactAfterRestart(job, topic);
    }

    /** The places of the task in the order in which a checkpoint passes them. */
    @ParameterizedTest
    @ValueSource(strings = {"before-seal after=2", "after-seal after=2", "in-snapshot after=2", "before-commit after=2",
        "after-commit after=2"})
    void taskFailsThere(String place) throws Exception {
        String topic = Bed.topics().create("task-failed", 2);
        Workspace.replace(TASK_FAULTS, place.replace(" ", " throw "));
        requireExactAfterRestart(submit(topic), topic);
    }

    /** The writer that ends without aborting is the one whose task has failed. */
    @ParameterizedTest
    @ValueSource(strings = "in-close")
    void taskFailsInClose(String place) throws Exception {
        String topic = Bed.topics().create("close-failed", 2);
        Workspace.replace(TASK_FAULTS, "after-seal throw after=2\n" + place + " throw times=2");
        requireExactAfterRestart(submit(topic), topic);
    }

    private static FlinkJob submit(String topic) {
        return submit(topic, "");
    }

    private static FlinkJob submit(String topic, String limits) {
        return bed.job(2, CHECKPOINT_MILLIS).explainedBy(daemon::diagnosis).submit(Tables.bids(ROWS, RATE)
                + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.optionsWithFallback(daemon.directory()), topic,
                        "exactly-once", limits)
                + Tables.copyBids());
    }

    private static void requireExactAfterRestart(FlinkJob job, String topic) throws Exception {
        job.awaitFinished(Bed.JOB_TIMEOUT);
        assertTrue(job.hasFailed(), "the job has met no fault");
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }
}
