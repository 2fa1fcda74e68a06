package dev.penstock.session;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that uses the session socket once it is open: it carries out requests one after the other, and in
 * between looks every {@value #PERIOD_MILLIS} ms whether the daemon is still there. Because the requests run here, a
 * task thread that is interrupted while it waits for one leaves the socket in step for everybody else. A daemon thread;
 * it ends with the session.
 */
final class SessionKeeper {

    /**
     * Longest time until the end of the daemon is noticed, and until a settled batch of an idle writer is collected.
     */
    static final long PERIOD_MILLIS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(SessionKeeper.class);

    private final ScheduledThreadPoolExecutor thread;

    /**
     * Creates the keeper; the thread starts with the first work.
     *
     * @param name of the thread
     */
    SessionKeeper(String name) {
        this.thread = new ScheduledThreadPoolExecutor(1, work -> {
            Thread created = new Thread(work, name);
            created.setDaemon(true);
            // The creator may be a task of a job; its class loader must not be held by a thread that outlives it.
            created.setContextClassLoader(SessionKeeper.class.getClassLoader());
            return created;
        });
    }

    /** Starts the regular work. A fault in one round is logged and does not end the next. */
    void start(Runnable round) {
        thread.scheduleWithFixedDelay(() -> {
            try {
                round.run();
            } catch (RuntimeException e) {
                LOG.warn("A round of the session's keeper failed; the next one runs as usual", e);
            }
        }, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Runs one piece of work on the keeper's thread. Fails at once when the session has ended. */
    <T> CompletableFuture<T> call(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            thread.execute(() -> {
                try {
                    result.complete(work.call());
                } catch (Exception e) {
                    result.completeExceptionally(e);
                }
            });
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    /** Runs the last work after everything that was asked before, then ends the thread. Does not wait. */
    void finish(Runnable last) {
        thread.execute(last);
        thread.shutdown();
    }
}
