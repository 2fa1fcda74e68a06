package dev.penstock.flink.sink;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.operators.ProcessingTimeService;

/** A clock that stands still until it is moved. */
final class ManualTimers implements ProcessingTimeService {

    private final TreeMap<Long, ProcessingTimeCallback> timers = new TreeMap<>();
    private long now = 1000;

    @Override
    public long getCurrentProcessingTime() {
        return now;
    }

    @Override
    public ScheduledFuture<?> registerTimer(long at, ProcessingTimeCallback callback) {
        long free = at;
        while (timers.containsKey(free)) {
            free++;
        }
        timers.put(free, callback);
        return null;
    }

    int pending() {
        return timers.size();
    }

    /** Moves the clock and runs what is due. */
    void advance(long millis) throws Exception {
        long until = now + millis;
        while (!timers.isEmpty() && timers.firstKey() <= until) {
            Map.Entry<Long, ProcessingTimeCallback> due = timers.pollFirstEntry();
            now = Math.max(now, due.getKey());
            due.getValue().onProcessingTime(now);
        }
        now = until;
    }
}
