package dev.penstock.integration.committer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.OperatorIOMetricGroup;
import org.apache.flink.metrics.groups.SinkCommitterMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Keeps the counters of a committer, of all groups by their last name. */
final class CommitMetrics extends UnregisteredMetricsGroup implements SinkCommitterMetricGroup {
    private final Map<String, Counter> counters = new ConcurrentHashMap<>();

    /** What was counted; 0 when nobody has registered the counter. */
    long count(String name) {
        return counter(name).getCount();
    }

    @Override
    public Counter counter(String name) {
        return counters.computeIfAbsent(name, n -> new SimpleCounter());
    }

    @Override
    public MetricGroup addGroup(String name) {
        return this;
    }

    @Override
    public OperatorIOMetricGroup getIOMetricGroup() {
        return UnregisteredMetricsGroup.createOperatorIOMetricGroup();
    }

    @Override
    public Counter getNumCommittablesTotalCounter() {
        return counter("total");
    }

    @Override
    public Counter getNumCommittablesFailureCounter() {
        return counter("failure");
    }

    @Override
    public Counter getNumCommittablesRetryCounter() {
        return counter("retry");
    }

    @Override
    public Counter getNumCommittablesSuccessCounter() {
        return counter("success");
    }

    @Override
    public Counter getNumCommittablesAlreadyCommittedCounter() {
        return counter("already");
    }

    @Override
    public void setCurrentPendingCommittablesGauge(Gauge<Integer> gauge) {}
}
