package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A topic that does not exist ends the job, whatever is promised and however it runs; it must never end well with rows
 * that went nowhere. All jobs run at the same time, because each waits for max.block.ms.
 */
@Timeout(600)
class UnknownTopicTest {
    private static final long ROWS = 1_000;
    /** Kafka's default waits a minute for a topic. Enough for what all jobs ask of the broker at once before that. */
    private static final String SHORT_BLOCK = ", 'properties.max.block.ms' = '20000'";

    private static final Map<Case, FlinkJob> JOBS = new LinkedHashMap<>();

    private static Bed bed;

    /** One way to run the job; the topic is named after it. */
    record Case(String guarantee, String mode, int parallelism) {
        String topic() {
            return "no-topic-" + guarantee + "-" + mode.toLowerCase() + "-" + parallelism;
        }
    }

    static Stream<Case> cases() {
        return Stream.of("exactly-once", "at-least-once", "none").flatMap(guarantee ->
                Stream.of("STREAMING", "BATCH").flatMap(mode ->
                        Stream.of(1, 2).map(parallelism -> new Case(guarantee, mode, parallelism))));
    }

    @BeforeAll
    static void submitAll() {
        List<Case> cases = cases().toList();
        bed = Bed.open(cases.stream().mapToInt(Case::parallelism).sum());
        String options = Sink.PENSTOCK.options(bed.daemon());
        for (Case c : cases) {
            JOBS.put(c, bed.job(c.parallelism(), 500)
                    .set("execution.runtime-mode", c.mode())
                    .set("restart-strategy.type", "none")
                    .submit(Tables.bids(ROWS, 0)
                            + Tables.sink("id BIGINT", options, c.topic(), c.guarantee(), SHORT_BLOCK)
                            + "INSERT INTO sink SELECT auction FROM bids;\n"));
        }
    }

    @AfterAll
    static void close() {
        bed.requireNothingLeft();
        bed.close();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theJobFailsByTheNameOfTheTopic(Case c) {
        FlinkJob job = JOBS.get(c);
        assertEquals("FAILED", job.awaitEnd(Bed.JOB_TIMEOUT));
        String failures = job.failures();
        assertTrue(failures.contains(c.topic()), failures);
        assertTrue(failures.contains("create it"), failures);
    }
}
