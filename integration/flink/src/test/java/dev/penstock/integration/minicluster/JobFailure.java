package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.SqlJob;
import java.util.List;

/** Jobs that must fail, without a restart. */
final class JobFailure {
    /**
     * Flink reports this instead of the cause when a task fails while its source coordinator is sending to it, as jobs
     * of a few rows do now and then.
     */
    private static final String LOST_EVENT = "An OperatorEvent from an OperatorCoordinator to a task was lost";

    private JobFailure() {}

    /** Runs the job, which must fail, and requires all words in what Flink tells of its failures. */
    static void require(SqlJob job, String script, List<String> expected) {
        String failures = of(job, script);
        for (String word : expected) {
            assertTrue(failures.contains(word), "no \"" + word + "\" in: " + failures);
        }
    }

    /** Runs the job, which must fail, and returns what Flink tells of its failures. */
    static String of(SqlJob job, String script) {
        String failures = once(job, script);
        for (int again = 0; again < 3 && failures.contains(LOST_EVENT); again++) {
            failures = once(job, script);
        }
        return failures;
    }

    private static String once(SqlJob job, String script) {
        FlinkJob submitted = job.set("restart-strategy.type", "none").submit(script);
        assertEquals("FAILED", submitted.awaitEnd(Bed.JOB_TIMEOUT));
        return submitted.failures();
    }
}
