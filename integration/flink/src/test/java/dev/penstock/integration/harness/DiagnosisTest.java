package dev.penstock.integration.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

/** What a failed wait says is short, complete and never hides the failure. */
class DiagnosisTest {

    @Test
    void partsAreAskedLateAndInOrderAndAFailingOneSaysSo() {
        StringBuilder log = new StringBuilder();
        Diagnosis diagnosis = new Diagnosis()
                .with(() -> new Diagnosis().with("log", log::toString))
                .with("status", () -> {
                    throw new IOException("refused");
                });
        log.append("killed\n");
        assertEquals("\n--- status ---\n(java.io.IOException: refused)\n--- log ---\nkilled", diagnosis.text());
    }

    @Test
    void causesLeaveStackTracesOut() throws Exception {
        assertEquals("1970-01-01T00:00:00.001Z sink (1/1)\n    a.B: failed\n    Caused by: a.C: broken\n",
                Diagnosis.causes(new ObjectMapper().readTree("""
                        {"exceptionHistory":{"entries":[{"timestamp":1,"taskName":"sink (1/1)",
                        "stacktrace":"a.B: failed\\n\\tat x\\nCaused by: a.C: broken\\n\\tat y\\n\\t... 1 more\\n"}]}}""")));
        assertEquals("none", Diagnosis.causes(new ObjectMapper().readTree("{}")));
    }
}
