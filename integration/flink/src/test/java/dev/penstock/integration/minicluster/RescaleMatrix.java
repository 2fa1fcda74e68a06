package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A job changes parallelism and connector over savepoints that hold sealed, uncommitted transactions, and leaves
 * further open ones behind (kafka.md E5). The next connector must commit the former and abort the latter, whoever made
 * them.
 */
@Timeout(600)
class RescaleMatrix {
    private static final long ROWS = 60_000;
    /** Slow enough for the first legs to end in the middle; the last one takes what is left as fast as it can. */
    private static final long RATE = 500;
    private static final long UNLIMITED = 0;
    private static final int[] PARALLELISM = {4, 2, 3};
    /** Only savepoints come, until the last leg, which can end only with a checkpoint. */
    private static final int NEVER_MILLIS = 3_600_000;

    private static Bed bed;
    private Path savepoints;

    @BeforeAll
    static void open() {
        bed = Bed.open(4);
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
        savepoints = Workspace.temporary("savepoints");
    }

    @AfterEach
    void deleteFolder() {
        Workspace.delete(savepoints);
    }

    static Stream<Arguments> ways() {
        return Sink.underTest().flatMap(sink -> Stream.of("PLAN_ONLY", "ALWAYS").flatMap(uids -> Stream.of(
                Arguments.of(List.of(Sink.STOCK, sink, Sink.STOCK), uids),
                Arguments.of(List.of(sink, Sink.STOCK, sink), uids))));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void ongoingTransactionsOfAnotherParallelismAndConnector(List<Sink> sinks, String uids) throws Exception {
        String topic = Bed.topics().create("rescale", 3);
        String savepoint = null;
        for (int leg = 0; leg < sinks.size(); leg++) {
            boolean last = leg == sinks.size() - 1;
            Sink sink = sinks.get(leg);
            SqlJob sql = bed.job(PARALLELISM[leg], last ? 300 : NEVER_MILLIS)
                    .set("table.exec.uid.generation", uids)
                    // The default names the node of the plan, whose number goes on from one plan of a JVM to the next.
                    .set("table.exec.uid.format", "<type>_<transformation>");
            if (savepoint != null) {
                sql.set("execution.state-recovery.path", savepoint);
            }
            FlinkJob job = sql.submit(Tables.bids(ROWS, last ? UNLIMITED : RATE)
                    + Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());
            if (last) {
                job.awaitFinished(Bed.JOB_TIMEOUT);
            } else {
                savepoint = savepointBetweenOpenTransactions(job, topic, PARALLELISM[leg]);
            }
        }
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }

    /** Every subtask has a sealed transaction in the savepoint and another one, which was begun after it. */
    private String savepointBetweenOpenTransactions(FlinkJob job, String topic, int parallelism) throws Exception {
        // Before that, those of the leg before would count, too.
        job.awaitRunning(Bed.JOB_TIMEOUT);
        awaitOpenTransactions(job, topic, parallelism);
        String savepoint = job.savepoint(savepoints, Bed.JOB_TIMEOUT);
        awaitOpenTransactions(job, topic, 2 * parallelism);
        job.cancel(Bed.JOB_TIMEOUT);
        List<String> left = Bed.topics().openTransactions(topic);
        assertTrue(left.size() >= parallelism, "nothing was left to commit: " + left);
        return savepoint;
    }

    private static void awaitOpenTransactions(FlinkJob job, String topic, int count) {
        job.awaitProgress(count + " open transactions",
                () -> Bed.topics().openTransactions(topic).size() >= count, Bed.JOB_TIMEOUT);
    }
}
