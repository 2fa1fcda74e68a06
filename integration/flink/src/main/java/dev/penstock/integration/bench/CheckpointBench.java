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
 * bids a second, or as many as stock takes in each pair when the rate is "stock"; parallelism 1 to 8. With the rate 0 each
 * takes what it can, which is not the same load. The time of a checkpoint from end to end
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
    private static final String AS_STOCK = "stock";
    /** Rows for each second of a leg without a rate: about what the stock sink takes on two cores. */
    private static final long UNLIMITED_ROWS_PER_SECOND = 150_000;

    private CheckpointBench() {}

    /** The rows per second of both legs of a pair, as it was asked for: a number, 0 for no limit, or what stock takes. */
    private record Load(String asked) {
        boolean isUsable() {
            return asked.equals(AS_STOCK) || asked.matches("0|[1-9][0-9]{2,8}");
        }

        long ofStock() {
            return asked.equals(AS_STOCK) ? 0 : Long.parseLong(asked);
        }

        long ofOurs(LegResult stock) {
            return asked.equals(AS_STOCK) ? Math.round(stock.rowsPerSecond()) : Long.parseLong(asked);
        }

        /** The length of a leg is given in seconds. */
        long rowsIn(long seconds) {
            return seconds * (ofStock() == 0 ? UNLIMITED_ROWS_PER_SECOND : ofStock());
        }
    }

    /** System properties bench.rate (100,000 rows/s, or "stock"), bench.seconds (20), bench.pairs (3) and bench.parallelism. */
    public static void main(String[] args) {
        Load load = new Load(System.getProperty("bench.rate", "100000"));
        long seconds = Long.getLong("bench.seconds", 20);
        int pairs = Integer.getInteger("bench.pairs", 3);
        if (!load.isUsable() || seconds < 5 || pairs < 1) {
            System.err.println("bench-checkpoint: RATE=" + load.asked() + " SECONDS=" + seconds + " PAIRS=" + pairs
                    + " are not usable: at least 100 (or 0: no limit, or stock: what stock takes), 5 and 1");
            System.exit(2);
        }
        try (LegRunner legs = LegRunner.start()) {
            run(legs, load, seconds, pairs);
        }
        System.exit(0);
    }

    private static void run(LegRunner legs, Load load, long seconds, int pairs) {
        Map<String, Object> json = ResultFile.read(NAME);
        if (!String.valueOf(json.get(RATE)).equals(load.asked())) {
            json.clear();
            json.put(RATE, load.asked());
        }
        List<String> summaries = new ArrayList<>();
        for (int parallelism : Parallelisms.or(1, 2, 4, 8)) {
            Map<LegKind, LegSeries> series = new LinkedHashMap<>();
            series.put(LegKind.STOCK, new LegSeries());
            series.put(LegKind.PENSTOCK, new LegSeries());
            long rows = load.rowsIn(seconds);
            for (int i = 0; i < pairs; i++) {
                LegResult stock = legs.run(LegKind.STOCK, parallelism, rows, load.ofStock(), CHECKPOINT_MILLIS);
                series.get(LegKind.STOCK).add(stock);
                series.get(LegKind.PENSTOCK)
                        .add(legs.run(LegKind.PENSTOCK, parallelism, rows, load.ofOurs(stock), CHECKPOINT_MILLIS));
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
