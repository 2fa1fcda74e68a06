package dev.penstock.flink.sink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Keeps the counters of all groups in one map. */
final class CountedMetrics extends UnregisteredMetricsGroup {

    private final Map<String, Counter> counters = new HashMap<>();

    Map<String, Long> values() {
        Map<String, Long> values = new HashMap<>();
        counters.forEach((name, counter) -> values.put(name, counter.getCount()));
        return values;
    }

    @Override
    public Counter counter(String name) {
        return counters.computeIfAbsent(name, n -> new SimpleCounter());
    }

    @Override
    public MetricGroup addGroup(String name) {
        return this;
    }
}
