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
 * bids a second, or as many as each takes when the rate is 0; parallelism 1 to 8. The time of a checkpoint from end to end
 * and its parts are Flink's own (see {@link dev.penstock.integration.harness.CheckpointTimes}). The default rate is two
 * thirds of what the stock sink takes on two cores. A leg lasts long enough for the code of a checkpoint, which runs twice a
 * second only, to be compiled.
 *
 * <p>The result is written after each parallelism, and keeps those of an earlier run at the same rate: a run of all may be
 * done in pieces.
 */
public final class CheckpointBench {
    private static final String NAME = "bench-checkpoint";
    private static final String RATE = "rows_per_s";
    private static final int CHECKPOINT_MILLIS = 500;
    private static final LegKind[] KINDS = {LegKind.STOCK, LegKind.PENSTOCK};
    /** Rows for each second of a leg without a rate: about what the stock sink takes on two cores. */
    private static final long UNLIMITED_ROWS_PER_SECOND = 150_000;

    private CheckpointBench() {}

    /** System properties bench.rate (100,000 rows/s), bench.seconds (20), bench.pairs (3) and bench.parallelism. */
    public static void main(String[] args) {
        long rate = Long.getLong("bench.rate", 100_000);
        long seconds = Long.getLong("bench.seconds", 20);
        int pairs = Integer.getInteger("bench.pairs", 3);
        if (rate != 0 && rate < 100 || seconds < 5 || pairs < 1) {
            System.err.println("bench-checkpoint: RATE=" + rate + " SECONDS=" + seconds + " PAIRS=" + pairs
                    + " are not usable: at least 100 (or 0: no limit), 5 and 1");
            System.exit(2);
        }
        try (LegRunner legs = LegRunner.start()) {
            run(legs, rate, seconds, pairs);
        }
        System.exit(0);
    }

    private static void run(LegRunner legs, long rate, long seconds, int pairs) {
        Map<String, Object> json = ResultFile.read(NAME);
        if (!String.valueOf(json.get(RATE)).equals(Long.toString(rate))) {
            json.clear();
            json.put(RATE, rate);
        }
        List<String> summaries = new ArrayList<>();
        for (int parallelism : Parallelisms.or(1, 2, 4, 8)) {
            Map<LegKind, LegSeries> series = new LinkedHashMap<>();
            long rows = seconds * (rate == 0 ? UNLIMITED_ROWS_PER_SECOND : rate);
            for (int i = 0; i < pairs; i++) {
                for (LegKind kind : KINDS) {
                    series.computeIfAbsent(kind, k -> new LegSeries())
                            .add(legs.run(kind, parallelism, rows, rate, CHECKPOINT_MILLIS));
                }
            }
            json.put("parallelism_" + parallelism, entry(series));
            ResultFile.write(NAME, json);
            summaries.add(summary(parallelism, series));
        }
        System.out.println("bench-checkpoint, p50 and p99 in times stock's (min / median / max of the pairs)\n"
                + String.join("\n", summaries));
    }

    private static Map<String, Object> entry(Map<LegKind, LegSeries> series) {
        LegSeries ours = series.get(LegKind.PENSTOCK);
        LegSeries stock = series.get(LegKind.STOCK);
        Map<String, Object> entry = new LinkedHashMap<>();
        series.forEach((kind, all) -> entry.put(kind.key(), all.json()));
        for (Part part : Part.values()) {
            entry.put(part.key() + "_p50_ratio", ours.ratios(stock, r -> part.p50.applyAsDouble(r.checkpoints())));
            entry.put(part.key() + "_p99_ratio", ours.ratios(stock, r -> part.p99.applyAsDouble(r.checkpoints())));
        }
        return entry;
    }

    private static String summary(int parallelism, Map<LegKind, LegSeries> series) {
        LegSeries ours = series.get(LegKind.PENSTOCK);
        LegSeries stock = series.get(LegKind.STOCK);
        StringBuilder line = new StringBuilder("  p=" + parallelism);
        for (Part part : Part.values()) {
            line.append("  ").append(part.key()).append(' ')
                    .append(words(ours.ratios(stock, r -> part.p50.applyAsDouble(r.checkpoints())))).append(", ")
                    .append(words(ours.ratios(stock, r -> part.p99.applyAsDouble(r.checkpoints()))));
        }
        return line.toString();
    }

    private static String words(Map<String, Object> ratios) {
        return String.format(Locale.ROOT, "%.2f / %.2f / %.2f", ratios.get("min"), ratios.get("median"), ratios.get("max"));
    }

    /** What is compared: the whole, the flush, or seal, alone, and with it the begin of the next transaction. */
    private enum Part {
        CHECKPOINT(CheckpointSummary::p50, CheckpointSummary::p99),
        FLUSH(CheckpointSummary::flushP50, CheckpointSummary::flushP99),
        HELD(CheckpointSummary::heldP50, CheckpointSummary::heldP99);

        private final ToDoubleFunction<CheckpointSummary> p50;
        private final ToDoubleFunction<CheckpointSummary> p99;

        Part(ToDoubleFunction<CheckpointSummary> p50, ToDoubleFunction<CheckpointSummary> p99) {
            this.p50 = p50;
            this.p99 = p99;
        }

        String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
