package dev.penstock.flink.sink;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.operators.ProcessingTimeService;

/** A clock that stands still until it is moved: an operator's timers, and alarms beside them. */
final class ManualTimers implements ProcessingTimeService {

    private record Timer(ProcessingTimeCallback callback, Object owner) {}

    private final TreeMap<Long, Timer> timers = new TreeMap<>();
    private boolean quiet;
    private long now = 1000;

    @Override
    public long getCurrentProcessingTime() {
        return now;
    }

    @Override
    public ScheduledFuture<?> registerTimer(long at, ProcessingTimeCallback callback) {
        if (!quiet) {
            add(at, new Timer(callback, this));
        }
        return null;
    }

    /** Does to the operator's timers what Flink does at the end of its input: no one runs any more. */
    void quiesce() {
        quiet = true;
        timers.values().removeIf(t -> t.owner() == this);
    }

    /** An alarm clock that goes by this time. */
    AlarmClock alarmClock() {
        return new AlarmClock() {
            private boolean closed;

            @Override
            public long millis() {
                return now;
            }

            @Override
            public void ring(long delayMillis, Runnable action) {
                if (closed) {
                    throw new IllegalStateException("closed");
                }
                add(now + delayMillis, new Timer(time -> action.run(), this));
            }

            @Override
            public void close() {
                closed = true;
                timers.values().removeIf(t -> t.owner() == this);
            }
        };
    }

    int pending() {
        return timers.size();
    }

    /** Moves the clock and runs what is due. */
    void advance(long millis) throws Exception {
        long until = now + millis;
        while (!timers.isEmpty() && timers.firstKey() <= until) {
            Map.Entry<Long, Timer> due = timers.pollFirstEntry();
            now = Math.max(now, due.getKey());
            due.getValue().callback().onProcessingTime(now);
        }
        now = until;
    }

    private void add(long at, Timer timer) {
        long free = at;
        while (timers.containsKey(free)) {
            free++;
        }
        timers.put(free, timer);
    }
}
