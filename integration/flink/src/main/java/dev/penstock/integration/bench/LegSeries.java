package dev.penstock.integration.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** The repeated results of one kind of leg, and how they are summed up: minimum, median, maximum. */
final class LegSeries {
    private final List<LegResult> results = new ArrayList<>();

    void add(LegResult result) {
        results.add(result);
    }

    double median(ToDoubleFunction<LegResult> value) {
        return middle(sorted(value));
    }

    private static double middle(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Minimum, median and maximum of a value of each run here divided by that of the run of {@code other} beside it. */
    Map<String, Object> ratios(LegSeries other, ToDoubleFunction<LegResult> value) {
        double[] each = IntStream.range(0, results.size())
                .mapToDouble(i -> value.applyAsDouble(results.get(i)) / value.applyAsDouble(other.results.get(i)))
                .sorted().toArray();
        return Map.of("min", each[0], "median", middle(each), "max", each[each.length - 1]);
    }

    /** The medians under the keys that every target uses, and the spread of each under the same key in "spread". */
    Map<String, Object> json() {
        Map<String, ToDoubleFunction<LegResult>> columns = new LinkedHashMap<>();
        columns.put("rows_per_s", LegResult::rowsPerSecond);
        columns.put("job_cpu_us_per_row", LegResult::jobCpu);
        columns.put("daemon_cpu_us_per_row", LegResult::daemonCpu);
        columns.put("broker_cpu_us_per_row", LegResult::brokerCpu);
        columns.put("checkpoint_p50_ms", LegResult::checkpointP50);
        columns.put("checkpoint_p99_ms", LegResult::checkpointP99);
        columns.put("flush_p50_ms", r -> r.checkpoints().flushP50());
        columns.put("flush_p99_ms", r -> r.checkpoints().flushP99());
        columns.put("next_transaction_p50_ms", r -> r.checkpoints().snapshotP50());
        columns.put("next_transaction_p99_ms", r -> r.checkpoints().snapshotP99());
        columns.put("held_p50_ms", r -> r.checkpoints().heldP50());
        columns.put("held_p99_ms", r -> r.checkpoints().heldP99());
        columns.put("start_delay_p50_ms", r -> r.checkpoints().startDelayP50());
        Map<String, Object> json = new LinkedHashMap<>();
        Map<String, Object> spread = new LinkedHashMap<>();
        columns.forEach((key, value) -> {
            double[] sorted = sorted(value);
            json.put(key, median(value));
            spread.put(key, Map.of("min", sorted[0], "max", sorted[sorted.length - 1]));
        });
        json.put("runs", results.size());
        json.put("spread", spread);
        return json;
    }

    private double[] sorted(ToDoubleFunction<LegResult> value) {
        return results.stream().mapToDouble(value).sorted().toArray();
    }
}
