package dev.penstock.integration.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** 200,000 cells against Flink's own serializer: half from a fixed seed, half from one that is new in every run. */
class JsonParityTest {
    private static final long CELLS = 100_000;

    @Test
    void fixedSeed() throws Exception {
        compare(20_260_923);
    }

    @Test
    void newSeed() throws Exception {
        compare(ThreadLocalRandom.current().nextLong(1, 1L << 40));
    }

    private static void compare(long seed) throws Exception {
        System.out.println("parity seed " + seed);
        ParityReport report = ParityRun.json(CELLS, 0, seed);
        System.out.println(report.summary());
        assertEquals(0, report.differing(), () -> report.summary() + "\n" + String.join("\n\n", report.differences()));
        assertTrue(report.failing() > 0, "no row that Flink refuses came up: the refusals were not compared");
    }
}
