package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A hundred checkpoints of which the writers hear nothing, a daemon that dies with the transaction behind them open,
 * and a restore from before all of it (kafka.md E9). PROBING asks for one id after the other until it comes to one that
 * nobody has used, so it reaches that transaction only when the ids between have been used too.
 */
@Timeout(600)
class SkippedCheckpointsMatrix {
    private static final int SKIPPED = 100;
    private static final int PARALLELISM = 2;
    private static final long ROWS = 400_000;
    /** So slow that rows are left at the last savepoint. */
    private static final long RATE = 2_000;
    /** Only savepoints come, until the last leg. */
    private static final int NEVER_MILLIS = 3_600_000;

    private static Bed bed;
    private Path folder;

    @BeforeAll
    static void open() {
        bed = Bed.open(PARALLELISM);
    }

    @AfterAll
    static void close() {
        bed.close();
    }

    @AfterEach
    void nothingLeft() {
        bed.requireNothingLeft();
    }

    @BeforeEach
    void createFolder() {
        folder = Workspace.temporary("savepoints");
    }

    @AfterEach
    void deleteFolder() {
        Workspace.delete(folder);
    }

    /** Whoever takes over: both sinks probe with the same code, and both rely on what the dead one has left. */
    @ParameterizedTest
    @EnumSource
    void whatLingersBehindThemIsFound(Sink successor) throws Exception {
        String topic = Bed.topics().create("skipped", PARALLELISM);
        FlinkJob job = submit(Sink.PENSTOCK, topic, RATE, null, NEVER_MILLIS);
        awaitOpen(job, topic, 1);
        String savepoint = job.savepoint(folder, Bed.JOB_TIMEOUT);
        awaitOpen(job, topic, 2);
        skipCheckpoints(job);
        job.savepoint(folder, Bed.JOB_TIMEOUT);
        awaitOpen(job, topic, SKIPPED + 3);

        // A daemon that still answered would abort what its writers have not sealed.
        bed.daemon().process().pause();
        job.cancel(Bed.JOB_TIMEOUT);
        bed.daemon().process().kill();
        bed.daemon();
        requireOpen(topic, List.of(1, 2, SKIPPED + 3));

        submit(successor, topic, 0, savepoint, 300).awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        requireOpen(topic, List.of());
    }

    private static FlinkJob submit(Sink sink, String topic, long rate, String savepoint, int checkpointMillis) {
        SqlJob sql = bed.job(PARALLELISM, checkpointMillis);
        if (savepoint != null) {
            sql.set("execution.state-recovery.path", savepoint);
        }
        String limits = sink.needsDaemon() ? ", 'penstock.connect-timeout' = '5 s'" : "";
        return sql.submit(Tables.bids(ROWS, rate)
                + Tables.sink(BidSource.COLUMNS, sink.options(bed.daemonOf(sink)), topic, "exactly-once", limits)
                + Tables.copyBids());
    }

    /** Flink takes the number of a checkpoint before it finds that there is no folder for it; tasks hear nothing. */
    private void skipCheckpoints(FlinkJob job) throws IOException {
        Path file = Files.createFile(folder.resolve("no-folder"));
        for (int i = 0; i < SKIPPED; i++) {
            assertThrows(Deadline.Impossible.class, () -> job.savepoint(file.resolve("below"), Bed.JOB_TIMEOUT));
        }
    }

    /** Waits until each subtask has rows in the transaction of this checkpoint. */
    private static void awaitOpen(FlinkJob job, String topic, int checkpoint) {
        job.awaitProgress("open transactions of checkpoint " + checkpoint,
                () -> Bed.topics().openTransactions(topic).containsAll(open(topic, checkpoint)), Bed.JOB_TIMEOUT);
    }

    private static void requireOpen(String topic, List<Integer> checkpoints) {
        List<String> wanted = checkpoints.stream().flatMap(c -> open(topic, c).stream()).sorted().toList();
        assertEquals(wanted, Bed.topics().openTransactions(topic).stream().sorted().toList());
    }

    private static List<String> open(String topic, int checkpoint) {
        return IntStream.range(0, PARALLELISM).mapToObj(s -> topic + "-" + s + "-" + checkpoint + " Ongoing").toList();
    }
}
