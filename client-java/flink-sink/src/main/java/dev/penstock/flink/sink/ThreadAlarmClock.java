package dev.penstock.flink.sink;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * An alarm clock with a thread of its own, which starts with the first alarm. The session's thread would not do: it may
 * wait for a daemon that stands still.
 */
final class ThreadAlarmClock implements AlarmClock {

    private final ScheduledThreadPoolExecutor thread;

    /**
     * Creates the clock.
     *
     * @param name of the thread
     */
    ThreadAlarmClock(String name) {
        this.thread =
                new ScheduledThreadPoolExecutor(
                        1,
                        work -> {
                            Thread created = new Thread(work, name);
                            created.setDaemon(true);
                            // The creator is a task; the class loader of its job must not be held by another thread.
                            created.setContextClassLoader(ThreadAlarmClock.class.getClassLoader());
                            return created;
                        });
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    @Override
    public void ring(long delayMillis, Runnable action) {
        thread.schedule(action, delayMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
