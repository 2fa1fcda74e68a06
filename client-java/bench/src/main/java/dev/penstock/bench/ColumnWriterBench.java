package dev.penstock.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs {@link ColumnWriterBenchmark} for about half a minute with the GC profiler, writes {@code
 * out/bench-columns.json} (or the file that the first argument names) and ends with one summary line.
 */
public final class ColumnWriterBench {
    private ColumnWriterBench() {}

    /** Entry point; see the class comment. */
    public static void main(String[] args) throws Exception {
        Path out = Path.of(args.length > 0 ? args[0] : "out/bench-columns.json").toAbsolutePath();
        Map<String, RunResult> results = run();
        double direct = score(results, "direct");
        double generic = score(results, "generic");
        double json = score(results, "flinkJson");
        double garbage = garbage(results, "direct");
        Files.createDirectories(out.getParent());
        Files.writeString(out, String.format(
                Locale.ROOT,
                "{\"direct_ns\": %.1f, \"generic_ns\": %.1f, \"flink_json_ns\": %.1f, \"ratio\": %.4f,"
                        + " \"garbage_bytes_per_row\": %.2f, \"generic_garbage_bytes_per_row\": %.2f,"
                        + " \"flink_json_garbage_bytes_per_row\": %.0f, \"jvm\": \"%s\"}%n",
                direct, generic, json, direct / json, garbage, garbage(results, "generic"),
                garbage(results, "flinkJson"), Runtime.version()));
        System.out.printf(
                Locale.ROOT,
                "columns: direct %.1f ns, generic %.1f ns, Flink JSON %.1f ns per row: direct is 1/%.1f of Flink"
                        + " (target at most 1/10: %s), garbage %.2f B per row%n",
                direct, generic, json, json / direct, direct * 10 <= json ? "met" : "MISSED", garbage);
    }

    private static Map<String, RunResult> run() throws RunnerException {
        Options options = new OptionsBuilder()
                .include(ColumnWriterBenchmark.class.getName() + "\\..*")
                .warmupIterations(3)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(5)
                .measurementTime(TimeValue.seconds(1))
                .forks(1)
                .addProfiler(GCProfiler.class)
                .build();
        Collection<RunResult> results = new Runner(options).run();
        Map<String, RunResult> byName = new HashMap<>();
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark();
            byName.put(name.substring(name.lastIndexOf('.') + 1), result);
        }
        return byName;
    }

    private static double score(Map<String, RunResult> results, String name) {
        return results.get(name).getPrimaryResult().getScore();
    }

    private static double garbage(Map<String, RunResult> results, String name) {
        return Secondary.garbage(results.get(name));
    }
}
