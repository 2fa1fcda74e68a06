package dev.penstock.integration.bench;

import dev.penstock.integration.harness.ResultFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * {@code make bench-checkpoint}: how long a barrier takes, stock and Penstock alternating, under the same load: so many
 * bids a second, parallelism 1 to 8. Flink has no metric of a sink's flush; the job has no other state, and source and
 * writer are one chain, so that the time of a checkpoint from end to end is the slowest writer's flush, or seal, and
 * what Flink needs for any.
 */
public final class CheckpointBench {
    private static final int[] PARALLELISMS = {1, 2, 4, 8};
    private static final int CHECKPOINT_MILLIS = 500;
    private static final LegKind[] KINDS = {LegKind.STOCK, LegKind.PENSTOCK};

    private CheckpointBench() {}

    /** System properties bench.rate (40,000 rows/s), bench.seconds (15) and bench.pairs (3). */
    public static void main(String[] args) {
        long rate = Long.getLong("bench.rate", 40_000);
        long seconds = Long.getLong("bench.seconds", 15);
        int pairs = Integer.getInteger("bench.pairs", 3);
        if (rate < 100 || seconds < 5 || pairs < 1) {
            System.err.println("bench-checkpoint: RATE=" + rate + " SECONDS=" + seconds + " PAIRS=" + pairs
                    + " are not usable: at least 100, 5 and 1");
            System.exit(2);
        }
        try (LegRunner legs = LegRunner.start()) {
            run(legs, rate, seconds, pairs);
        }
        System.exit(0);
    }

    private static void run(LegRunner legs, long rate, long seconds, int pairs) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rows_per_s", rate);
        List<String> summaries = new ArrayList<>();
        for (int parallelism : PARALLELISMS) {
            Map<LegKind, LegSeries> series = new LinkedHashMap<>();
            for (int i = 0; i < pairs; i++) {
                for (LegKind kind : KINDS) {
                    series.computeIfAbsent(kind, k -> new LegSeries())
                            .add(legs.run(kind, parallelism, rate * seconds, rate, CHECKPOINT_MILLIS));
                }
            }
            double p50 = ratio(series, LegResult::checkpointP50);
            double p99 = ratio(series, LegResult::checkpointP99);
            Map<String, Object> entry = new LinkedHashMap<>();
            series.forEach((kind, all) -> entry.put(kind.key(), all.json()));
            entry.put("checkpoint_p50_ratio", p50);
            entry.put("checkpoint_p99_ratio", p99);
            json.put("parallelism_" + parallelism, entry);
            summaries.add(String.format(Locale.ROOT, "p=%d: p50 %.2f p99 %.2f", parallelism, p50, p99));
        }
        ResultFile.write("bench-checkpoint", json);
        System.out.println("bench-checkpoint, times stock's: " + String.join("; ", summaries));
    }

    private static double ratio(Map<LegKind, LegSeries> series, ToDoubleFunction<LegResult> value) {
        return series.get(LegKind.PENSTOCK).median(value) / series.get(LegKind.STOCK).median(value);
    }
}
