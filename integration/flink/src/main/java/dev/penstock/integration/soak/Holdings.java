package dev.penstock.integration.soak;

import dev.penstock.integration.soak.Trend.Point;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/** What processes hold while a job completes checkpoints: threads, descriptors and memory, and which of it grows. */
public final class Holdings {
    private final Map<String, List<Point>> series = new LinkedHashMap<>();

    /** What is sampled, and how much of it may come over the second half before it is called a leak. */
    private enum Quantity {
        THREADS(ProcessSample::threads, 4, 0),
        DESCRIPTORS(ProcessSample::descriptors, 8, 0),
        RSS_KB(ProcessSample::rssKilobytes, 16_384, 0.05);

        private final ToLongFunction<ProcessSample> value;
        private final double allowance;
        private final double share;

        Quantity(ToLongFunction<ProcessSample> value, double allowance, double share) {
            this.value = value;
            this.allowance = allowance;
            this.share = share;
        }
    }

    /** Samples the process, which goes by that name here, when so many checkpoints are complete. */
    public void sample(String process, long checkpoints, long pid) throws IOException {
        ProcessSample sample = ProcessSample.of(pid);
        for (Quantity quantity : Quantity.values()) {
            series.computeIfAbsent(key(process, quantity), key -> new ArrayList<>())
                    .add(new Point(checkpoints, quantity.value.applyAsLong(sample)));
        }
    }

    /** The names of the series that grow, such as {@code daemon_threads}; at least four samples of each process. */
    public List<String> growing() {
        List<String> growing = new ArrayList<>();
        for (Map.Entry<String, List<Point>> each : series.entrySet()) {
            for (Quantity quantity : Quantity.values()) {
                if (each.getKey().endsWith(suffix(quantity))
                        && Trend.ofSecondHalf(each.getValue()).grows(quantity.allowance, quantity.share)) {
                    growing.add(each.getKey());
                }
            }
        }
        return growing;
    }

    /** The line through the second half of each series. */
    Map<String, Trend> trends() {
        Map<String, Trend> trends = new LinkedHashMap<>();
        series.forEach((key, points) -> trends.put(key, Trend.ofSecondHalf(points)));
        return trends;
    }

    /** The number of samples of each process. */
    int samples() {
        return series.isEmpty() ? 0 : series.values().iterator().next().size();
    }

    @Override
    public String toString() {
        return trends().toString();
    }

    private static String key(String process, Quantity quantity) {
        return process + suffix(quantity);
    }

    private static String suffix(Quantity quantity) {
        return "_" + quantity.name().toLowerCase(Locale.ROOT);
    }
}
