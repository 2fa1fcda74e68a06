package dev.penstock.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * The Java half of one round of {@code make bench-encode}: {@link FlinkEncodeBenchmark} for one format and all batch
 * sizes. The harness starts a process for each format, so nothing is forked here: what one size teaches the compiler
 * holds for the next one, as in a job.
 */
public final class FlinkEncodeBench {
    // As the Go half measures: the best of some slices.
    private static final int SLICES = 10;
    private static final int SLICE_MILLIS = 30;

    private FlinkEncodeBench() {}

    /** Arguments: the file for lines "ROWS NANOSECONDS_PER_ROW GARBAGE_BYTES_PER_ROW", the format, the batch sizes. */
    public static void main(String[] args) throws Exception {
        Options options = new OptionsBuilder()
                .include(FlinkEncodeBenchmark.class.getName() + "\\..*")
                .param("format", args[1])
                .param("rows", Arrays.copyOfRange(args, 2, args.length))
                .warmupIterations(1)
                .warmupTime(TimeValue.milliseconds(100))
                .measurementIterations(SLICES)
                .measurementTime(TimeValue.milliseconds(SLICE_MILLIS))
                .forks(0)
                .addProfiler(GCProfiler.class)
                .addProfiler(WorkerTime.class)
                .build();
        StringBuilder lines = new StringBuilder();
        for (RunResult result : new Runner(options).run()) {
            int rows = Integer.parseInt(result.getParams().getParam("rows"));
            lines.append(String.format(Locale.ROOT, "%d %.2f %.1f%n", rows,
                    Secondary.leastNanos(result) / rows, Secondary.garbage(result) / rows));
        }
        Files.writeString(Path.of(args[0]), lines);
    }
}
