package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import org.junit.jupiter.params.provider.MethodSource;

/** A job changes its connector over savepoints, without uids and without allowing state to be left out. */
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
        String savepoint = null;
        for (int leg = 0; leg < sinks.size(); leg++) {
            Sink sink = sinks.get(leg);
            SqlJob sql = bed.job(2, 300);
            if (savepoint != null) {
                sql.set("execution.state-recovery.path", savepoint);
            }
            FlinkJob job = sql.submit(Tables.bids(ROWS, RATE)
                    + Tables.bidSink(sink.options(bed.daemonOf(sink)), topic, "exactly-once") + Tables.copyBids());
            if (leg == sinks.size() - 1) {
                job.awaitFinished(Bed.JOB_TIMEOUT);
            } else {
                job.awaitCheckpoints(3, Bed.JOB_TIMEOUT);
                savepoint = job.stopWithSavepoint(savepoints, Bed.JOB_TIMEOUT);
            }
        }
        Bed.judge("auction").judge(Bed.read(topic, "auction"), ROWS).requireExact(ROWS);
        assertEquals(List.of(), Bed.topics().openTransactions(topic));
    }
}
