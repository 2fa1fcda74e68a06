package dev.penstock.integration.bench;

import dev.penstock.integration.harness.CheckpointTimes;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Percentiles over the checkpoints of one leg, milliseconds; NaN when there was none. See {@link CheckpointTimes} for the
 * parts. The percentile of a whole is not the sum of those of its parts.
 *
 * @param count complete checkpoints
 */
record CheckpointSummary(int count, double p50, double p99, double startDelayP50, double flushP50, double flushP99,
        double snapshotP50, double snapshotP99, double heldP50, double heldP99) {
    private static final int WORDS = 10;

    static CheckpointSummary of(List<CheckpointTimes> all) {
        return new CheckpointSummary(all.size(), percentile(all, CheckpointTimes::endToEnd, 0.50),
                percentile(all, CheckpointTimes::endToEnd, 0.99), percentile(all, CheckpointTimes::startDelay, 0.50),
                percentile(all, CheckpointTimes::flush, 0.50), percentile(all, CheckpointTimes::flush, 0.99),
                percentile(all, CheckpointTimes::snapshot, 0.50), percentile(all, CheckpointTimes::snapshot, 0.99),
                percentile(all, CheckpointTimes::held, 0.50), percentile(all, CheckpointTimes::held, 0.99));
    }

    /** The numbers as words of a line. */
    String words() {
        return String.format(Locale.ROOT, "%d %f %f %f %f %f %f %f %f %f", count, p50, p99, startDelayP50, flushP50, flushP99,
                snapshotP50, snapshotP99, heldP50, heldP99);
    }

    /** Reads {@link #words} from the word at index {@code from} on. */
    static CheckpointSummary parse(String[] words, int from) {
        double[] d = new double[WORDS];
        for (int i = 0; i < d.length; i++) {
            d[i] = Double.parseDouble(words[from + i]);
        }
        return new CheckpointSummary((int) d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9]);
    }

    /** For people. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "checkpoints %d: p50 %.0f ms p99 %.0f ms (flush %.0f %.0f, next transaction %.0f %.0f, "
                + "both %.0f %.0f, start p50 %.0f)", count, p50, p99, flushP50, flushP99, snapshotP50, snapshotP99, heldP50, heldP99,
                startDelayP50);
    }

    /** The nearest-rank percentile. */
    private static double percentile(List<CheckpointTimes> all, ToLongFunction<CheckpointTimes> part, double share) {
        long[] sorted = all.stream().mapToLong(part).sorted().toArray();
        return sorted.length == 0 ? Double.NaN : sorted[(int) Math.ceil(share * sorted.length) - 1];
    }
}
