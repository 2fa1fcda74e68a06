package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two daemons and two attempts of one job (kafka.md E6). The daemon of the first stands still right before it
 * initialises the id that it keeps ready; the second attempt seals that id; then the first daemon goes on. Had it sent
 * what it was about to send, the broker would have aborted the sealed transaction, and its commit would be dropped in
 * silence.
 */
@Timeout(600)
class OldDaemonMatrix {
    private static final long ROWS = 200_000;
    private static final long RATE = 2_000;
    /** From the moment at which the old daemon wants to initialise until it does; it is stopped meanwhile. */
    private static final Duration DELAY = Duration.ofSeconds(20);
    /** Only savepoints come, until the last leg. */
    private static final int NEVER_MILLIS = 3_600_000;

    private static Bed bed;
    private static DaemonProcess old;
    private final Path savepoints = Workspace.temporary("savepoints");

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
        old = DaemonProcess.startWithFaults();
    }

    @AfterAll
    static void close() {
        bed.close();
        old.close();
    }

    @AfterEach
    void nothingLeft() {
        Workspace.delete(savepoints);
        bed.requireNothingLeft();
        old.awaitNothingLeft(Bed.JOB_TIMEOUT);
    }

    @Test
    void aSealedTransactionOutlivesItsWaking() throws Exception {
        String topic = Bed.topics().create("old-daemon", 1);
        // The attempt stays as it is, as one does whose JobManager cannot be reached, and ends when it fails.
        FlinkJob first = submit(old, topic, RATE, bed.job(1, NEVER_MILLIS).set("restart-strategy.type", "none"));
        awaitOpen(first, topic, 1);
        old.faults("in-init delay for=" + DELAY.toSeconds() + "s");
        String before = first.savepoint(savepoints, Bed.JOB_TIMEOUT);
        awaitOpen(first, topic, 2);
        old.process().pause();
        Deadline delayed = Deadline.in(DELAY);

        FlinkJob second = submit(bed.daemon(), topic, RATE,
                bed.job(1, NEVER_MILLIS).set("execution.state-recovery.path", before));
        // Before that, the first attempt's transaction of the same id would count.
        second.awaitRunning(Bed.JOB_TIMEOUT);
        awaitOpen(second, topic, 2);
        second.savepoint(savepoints, Bed.JOB_TIMEOUT);
        awaitOpen(second, topic, 3);
        String sealed = second.savepoint(savepoints, Bed.JOB_TIMEOUT);
        awaitOpen(second, topic, 4);
        second.cancel(Bed.JOB_TIMEOUT);

        Deadline.in(Bed.JOB_TIMEOUT).await("the end of the delay", delayed::isOver);
        old.process().resume();
        assertEquals("FAILED", first.awaitEnd(Bed.JOB_TIMEOUT));
        old.awaitNothingLeft(Bed.JOB_TIMEOUT);
        String log = Files.readString(old.process().log());
        assertTrue(log.lines().anyMatch(line -> line.contains("warm-up failed") && line.contains(topic + "-0-3")),
                () -> "no initialisation was refused: " + log);
        assertTrue(Bed.topics().openTransactions(topic).containsAll(List.of(open(topic, 2), open(topic, 3))),
                () -> "of the second attempt's sealed transactions only these are left: "
                        + Bed.topics().openTransactions(topic));

        submit(bed.daemon(), topic, 0, bed.job(1, 300).set("execution.state-recovery.path", sealed))
                .awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }

    private static FlinkJob submit(DaemonProcess daemon, String topic, long rate, SqlJob sql) {
        // The first attempt must not notice that its daemon stands still.
        return sql.explainedBy(daemon::diagnosis).submit(Tables.bids(ROWS, rate)
                + Tables.sink(BidSource.COLUMNS, Sink.PENSTOCK.options(daemon), topic, "exactly-once",
                        ", 'penstock.connect-timeout' = '300 s', 'properties.max.block.ms' = '300000'")
                + Tables.copyBids());
    }

    private static void awaitOpen(FlinkJob job, String topic, int checkpoint) {
        job.awaitProgress("the open transaction of checkpoint " + checkpoint,
                () -> Bed.topics().openTransactions(topic).contains(open(topic, checkpoint)), Bed.JOB_TIMEOUT);
    }

    private static String open(String topic, int checkpoint) {
        return topic + "-0-" + checkpoint + " Ongoing";
    }
}
