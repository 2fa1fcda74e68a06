package dev.penstock.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs {@link SlotTurnBenchmark} for about twenty seconds, writes {@code out/bench-slot-turn.json} (or the file that the
 * first argument names) and ends with one summary line.
 */
public final class SlotTurnBench {
    /** The aim for park, claim and settle in one process, nanoseconds at the median. */
    private static final double AIM_NANOS = 250;

    private SlotTurnBench() {}

    /** Entry point; see the class comment. */
    public static void main(String[] args) throws Exception {
        Path out = Path.of(args.length > 0 ? args[0] : "out/bench-slot-turn.json").toAbsolutePath();
        Map<Mode, Result<?>> results = run();
        double average = results.get(Mode.AverageTime).getScore();
        double p50 = results.get(Mode.SampleTime).getStatistics().getPercentile(50);
        double p99 = results.get(Mode.SampleTime).getStatistics().getPercentile(99);
        Files.createDirectories(out.getParent());
        Files.writeString(out, String.format(
                Locale.ROOT,
                "{\"average_ns\": %.1f, \"p50_ns\": %.0f, \"p99_ns\": %.0f, \"aim_p50_ns\": %.0f, \"jvm\": \"%s\"}%n",
                average, p50, p99, AIM_NANOS, Runtime.version()));
        System.out.printf(
                Locale.ROOT,
                "slot turn: %.1f ns on average; with the clock around each one p50 %.0f, p99 %.0f ns (aim p50 at most %.0f:"
                        + " %s)%n",
                average, p50, p99, AIM_NANOS, p50 <= AIM_NANOS ? "met" : "MISSED");
    }

    private static Map<Mode, Result<?>> run() throws RunnerException {
        Options options = new OptionsBuilder()
                .include(SlotTurnBenchmark.class.getName() + "\\..*")
                .warmupIterations(3)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(5)
                .measurementTime(TimeValue.seconds(1))
                .forks(1)
                .build();
        Map<Mode, Result<?>> byMode = new HashMap<>();
        for (RunResult result : new Runner(options).run()) {
            byMode.put(result.getParams().getMode(), result.getPrimaryResult());
        }
        return byMode;
    }
}
