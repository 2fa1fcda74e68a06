package dev.penstock.integration.bench;

import dev.penstock.integration.harness.ResultFile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code make bench-sink}: Nexmark bids through the exactly-once JSON sink, stock and Penstock alternating in one run,
 * parallelism 1 and 2, 1 s checkpoints. Each leg is a JVM of its own on the same broker and daemon. Only ratios within
 * one run mean anything.
 */
public final class SinkBench {
    private static final int CHECKPOINT_MILLIS = 1000;

    private final LegRunner legs;
    private final long rows;
    private final int pairs;

    private SinkBench(LegRunner legs, long rows, int pairs) {
        this.legs = legs;
        this.rows = rows;
        this.pairs = pairs;
    }

    /** System properties bench.rows (2,000,000) and bench.pairs (3) say how long it takes. */
    public static void main(String[] args) {
        long rows = Long.getLong("bench.rows", 2_000_000);
        int pairs = Integer.getInteger("bench.pairs", 3);
        if (rows < 1000 || pairs < 1) {
            System.err.println("bench-sink: ROWS=" + rows + " PAIRS=" + pairs + " are not usable: at least 1000 and 1");
            System.exit(2);
        }
        try (LegRunner legs = LegRunner.start()) {
            new SinkBench(legs, rows, pairs).run();
        }
        System.exit(0);
    }

    private void run() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rows", rows);
        List<String> summaries = new ArrayList<>();
        for (int parallelism : Parallelisms.or(1, 2)) {
            Map<LegKind, LegSeries> series = new LinkedHashMap<>();
            for (LegKind kind : LegKind.values()) {
                series.put(kind, new LegSeries());
            }
            for (int i = 0; i < pairs; i++) {
                for (LegKind kind : LegKind.values()) {
                    series.get(kind).add(legs.run(kind, parallelism, rows, 0, CHECKPOINT_MILLIS));
                }
            }
            Map<String, Object> entry = summarize(series);
            json.put("parallelism_" + parallelism, entry);
            summaries.add(summary(parallelism, entry));
        }
        ResultFile.write("bench-sink", json);
        System.out.println("bench-sink: " + String.join("; ", summaries));
    }

    private static Map<String, Object> summarize(Map<LegKind, LegSeries> series) {
        Map<String, Object> entry = new LinkedHashMap<>();
        series.forEach((kind, legs) -> entry.put(kind.key(), legs.json()));
        LegSeries stock = series.get(LegKind.STOCK);
        LegSeries ours = series.get(LegKind.PENSTOCK);
        entry.put("rows_per_s_ratio", ours.median(LegResult::rowsPerSecond) / stock.median(LegResult::rowsPerSecond));
        entry.put("cpu_ratio", ours.median(LegResult::jobAndDaemonCpu) / stock.median(LegResult::jobCpu));
        entry.put("checkpoint_p50_ratio",
                ours.median(LegResult::checkpointP50) / stock.median(LegResult::checkpointP50));
        entry.put("checkpoint_p99_ratio",
                ours.median(LegResult::checkpointP99) / stock.median(LegResult::checkpointP99));
        return entry;
    }

    private static String summary(int parallelism, Map<String, Object> entry) {
        return String.format(Locale.ROOT, "p=%d: %.2f times the rows/s, %.2f times the CPU (job+daemon), checkpoints "
                        + "p50 %.2f p99 %.2f times stock's", parallelism, entry.get("rows_per_s_ratio"),
                entry.get("cpu_ratio"), entry.get("checkpoint_p50_ratio"), entry.get("checkpoint_p99_ratio"));
    }
}
