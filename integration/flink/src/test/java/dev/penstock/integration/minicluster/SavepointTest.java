package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
 * A job changes its connector over savepoints and checkpoints, without allowing state to be left out: as a statement,
 * which has no uids, and as a compiled plan, which has.
 */
@Timeout(600)
class SavepointTest {
    private static final long ROWS = 40_000;
    private static final long RATE = 5_000;

    private static Bed bed;
    private Path savepoints;

    @BeforeAll
    static void open() {
        bed = Bed.open(2);
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

    static Stream<List<Sink>> ways() {
        return Sink.underTest().map(sink -> List.of(Sink.STOCK, sink, Sink.STOCK));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void connectorChangesTwice(List<Sink> sinks) throws Exception {
        String topic = Bed.topics().create("savepoint", 2);
        requireExact(topic, sinks, sink -> tables(sink, topic) + Tables.copyBids());
    }

    /** The word changes in the file: COMPILE PLAN once, EXECUTE PLAN in each leg. */
    @ParameterizedTest
    @MethodSource("ways")
    void connectorOfACompiledPlanChangesTwice(List<Sink> sinks) throws Exception {
        String topic = Bed.topics().create("plan", 2);
        Path file = savepoints.resolve("stock.json");
        // Tables of the catalog are part of the plan, temporary ones are not.
        bed.job(2, 300).run(tables(Sink.STOCK, topic).replace("CREATE TEMPORARY TABLE", "CREATE TABLE")
                + "COMPILE PLAN '" + file + "' FOR " + Tables.copyBids());
        String stock = Files.readString(file);
        requireExact(topic, sinks, sink -> {
            Path changed = savepoints.resolve(sink + ".json");
            Workspace.replace(changed, changed(stock, sink));
            return "EXECUTE PLAN '" + changed + "';\n";
        });
    }

    static Stream<Arguments> pairs() {
        return Sink.underTest().flatMap(sink ->
                Stream.of(Arguments.of(Sink.STOCK, sink), Arguments.of(sink, Sink.STOCK)));
    }

    /** The state of a checkpoint holds a sealed transaction; RescaleMatrix has the same with savepoints. */
    @ParameterizedTest
    @MethodSource("pairs")
    void theOtherConnectorCommitsWhatACheckpointHolds(Sink writer, Sink successor) throws Exception {
        String topic = Bed.topics().create("checkpoint", 1);
        FlinkJob job = mapped(writer, topic, RATE, new HoldingMap(true), bed.job(1, 300)
                .set("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION"));
        long sealed = HoldingMap.awaitHeld(job);
        job.cancel(Bed.JOB_TIMEOUT);
        assertEquals(List.of(topic + "-0-" + sealed + " Ongoing"), Bed.topics().openTransactions(topic));

        mapped(successor, topic, 0, new HoldingMap(false), bed.job(1, 300)
                .set("execution.state-recovery.path", job.checkpointPath())).awaitFinished(Bed.JOB_TIMEOUT);
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }

    private static FlinkJob mapped(Sink sink, String topic, long rate, HoldingMap map, SqlJob sql) {
        return InducedFailures.mappedBids(sql, ROWS, rate, map).submit(
                Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());
    }

    /** The plan with the options of this sink in place of the stock sink's connector. */
    private static String changed(String plan, Sink sink) {
        Matcher connector = Pattern.compile("\"connector\" : \"kafka\"").matcher(plan);
        assertEquals(1, connector.results().count(), "places in " + plan);
        String options = sink.options(bed.daemonOf(sink)).replace(" = ", " : ").replace('\'', '"');
        return connector.replaceFirst(Matcher.quoteReplacement(options));
    }

    private static long rowsOfDaemon() {
        return bed.daemon().status().counter("rows");
    }

    private static String tables(Sink sink, String topic) {
        return Tables.bids(ROWS, RATE) + Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once");
    }

    /** Runs the scripts of the sinks one after the other, each from the savepoint of the one before. */
    private void requireExact(String topic, List<Sink> sinks, Function<Sink, String> script) throws Exception {
        String savepoint = null;
        for (int leg = 0; leg < sinks.size(); leg++) {
            SqlJob sql = bed.job(2, 300);
            if (savepoint != null) {
                sql.set("execution.state-recovery.path", savepoint);
            }
            long before = rowsOfDaemon();
            FlinkJob job = sql.submit(script.apply(sinks.get(leg)));
            if (leg == sinks.size() - 1) {
                job.awaitFinished(Bed.JOB_TIMEOUT);
            } else {
                job.awaitCheckpoints(3, Bed.JOB_TIMEOUT);
                savepoint = job.stopWithSavepoint(savepoints, Bed.JOB_TIMEOUT);
            }
            boolean written = rowsOfDaemon() > before;
            assertEquals(sinks.get(leg).needsDaemon(), written, "rows that went through the daemon");
        }
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }
}
