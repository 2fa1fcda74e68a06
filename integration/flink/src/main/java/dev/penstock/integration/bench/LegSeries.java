package dev.penstock.integration.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The repeated results of one kind of leg, and how they are summed up: minimum, median, maximum. */
final class LegSeries {
    private final List<LegResult> results = new ArrayList<>();

    void add(LegResult result) {
        results.add(result);
    }

    double median(ToDoubleFunction<LegResult> value) {
        double[] sorted = sorted(value);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
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
