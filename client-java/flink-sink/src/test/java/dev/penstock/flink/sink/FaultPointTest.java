package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The property is read once, so each case has a JVM of its own. */
class FaultPointTest {

    @TempDir private Path folder;

    /** Hits a place five times and prints what came of it. */
    static final class Hitter {
        public static void main(String[] arguments) {
            for (int i = 0; i < 5; i++) {
                try {
                    FaultPoint.AFTER_SEAL.hit();
                    System.out.println("passed");
                } catch (IllegalStateException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    @Test
    void withoutThePropertyNothingHappens() throws Exception {
        FaultPoint.AFTER_SEAL.hit();
        assertEquals(List.of("passed", "passed", "passed", "passed", "passed", "0"), run("", false));
    }

    @Test
    void aRuleActsAfterSoManyHitsSoOften() throws Exception {
        String failed = "Fault point AFTER_SEAL: failed as its rule wants.";
        assertEquals(
                List.of("passed", failed, failed, "passed", "passed", "0"),
                run("in-close throw\n\nafter-seal throw after=1 times=2\n", true));
    }

    @Test
    void haltEndsTheProcessAsAKillWould() throws Exception {
        assertEquals(List.of("passed", "137"), run("after-seal halt after=1", true));
    }

    @Test
    void aRuleThatNobodyUnderstandsFailsTheTest() throws Exception {
        for (String rule : List.of("nowhere throw", "after-seal explode", "after-seal throw soon=1", "after-seal")) {
            List<String> lines = run(rule, true);
            assertTrue(lines.get(0).endsWith("not a rule: " + rule), lines.toString());
        }
    }

    /** What the JVM printed and its exit code. */
    private List<String> run(String rules, boolean withProperty) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), rules);
        List<String> command =
                new ArrayList<>(List.of(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-cp",
                        System.getProperty("java.class.path")));
        if (withProperty) {
            command.add("-Dpenstock.faultpoints=" + file);
        }
        command.add(Hitter.class.getName());
        Path output = folder.resolve("output");
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(output.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "no end");
        List<String> lines = new ArrayList<>(Files.readAllLines(output));
        lines.removeIf(line -> line.contains("WARN"));
        lines.add(Integer.toString(process.exitValue()));
        return lines;
    }
}
