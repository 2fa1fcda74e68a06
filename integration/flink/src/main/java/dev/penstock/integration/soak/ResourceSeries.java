package dev.penstock.integration.soak;

import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.soak.Trend.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/** What some processes hold over very many repetitions of the same thing, and whether that grows with them. */
final class ResourceSeries {
    private final String unit;
    private final Map<String, List<Point>> series = new LinkedHashMap<>();

    /** What is sampled, and how much of it may come over the second half before it is called a leak. */
    private enum Quantity {
        THREADS(ProcessSample::threads, 4, 0),
        DESCRIPTORS(ProcessSample::descriptors, 8, 0),
        MAPPINGS(ProcessSample::mappings, 1, 0),
        RSS_KB(ProcessSample::rssKilobytes, 16_384, 0.05);

        private final ToLongFunction<ProcessSample> value;
        private final double allowance;
        private final double share;

        Quantity(ToLongFunction<ProcessSample> value, double allowance, double share) {
            this.value = value;
            this.allowance = allowance;
            this.share = share;
        }

        String key(String process) {
            return process + "_" + name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * An empty series.
     *
     * @param unit what is repeated, in the plural, for the report
     */
    ResourceSeries(String unit) {
        this.unit = unit;
    }

    /** Notes what a process holds after so many repetitions. */
    void add(String process, long repetitions, ProcessSample sample) {
        for (Quantity quantity : Quantity.values()) {
            series.computeIfAbsent(quantity.key(process), key -> new ArrayList<>())
                    .add(new Point(repetitions, quantity.value.applyAsLong(sample)));
        }
    }

    /** How many samples each process has. */
    int samples() {
        return series.values().iterator().next().size();
    }

    /** Prints the line through each quantity, adds it to the result, and returns the names of those that grow. */
    List<String> report(Map<String, Object> json) {
        List<String> leaks = new ArrayList<>();
        for (String key : series.keySet()) {
            Quantity quantity = quantity(key);
            Trend trend = Trend.ofSecondHalf(series.get(key));
            json.put(key, Map.of("first", trend.first(), "last", trend.last(), "per_1000_" + unit, trend.perThousand()));
            boolean leak = trend.grows(quantity.allowance, quantity.share);
            if (leak) {
                leaks.add(key);
            }
            System.out.printf("%-24s %s %s%s%n", key, trend, unit, leak ? "  GROWS" : "");
        }
        json.put("leaks", leaks.size());
        return leaks;
    }

    private static Quantity quantity(String key) {
        for (Quantity quantity : Quantity.values()) {
            if (key.endsWith(quantity.key(""))) {
                return quantity;
            }
        }
        throw new IllegalArgumentException(key);
    }
}
