package dev.penstock.integration.harness;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * A point in time until which something may be waited for. Every wait of the harness goes through here, so none can
 * hang and each failure says what did not happen.
 */
public final class Deadline {
    private static final long POLL_MILLIS = 20;

    private final long endNanos;
    private final Duration length;

    private Deadline(Duration length) {
        this.length = length;
        this.endNanos = System.nanoTime() + length.toNanos();
    }

    /** Starts to run now. */
    public static Deadline in(Duration length) {
        return new Deadline(length);
    }

    /** What is left, never negative. */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
    }

    public boolean isOver() {
        return endNanos - System.nanoTime() <= 0;
    }

    /** A condition that may fail while what it asks is not there yet; such failures count as "not yet". */
    @FunctionalInterface
    public interface Condition {
        boolean isMet() throws Exception;
    }

    /** As {@link #await(String, Condition, Supplier)} without details. */
    public void await(String what, Condition condition) {
        await(what, condition, () -> "");
    }

    /**
     * Polls until the condition holds.
     *
     * @param what what is waited for, as it should read after "timed out waiting for"
     * @param details asked for when time is over, for example the end of a log
     * @throws IllegalStateException when time is over; its cause is the last failure of the condition, if any
     */
    public void await(String what, Condition condition, Supplier<String> details) {
        Exception last = null;
        do {
            try {
                if (condition.isMet()) {
                    return;
                }
                last = null;
            } catch (Impossible e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
            pause();
        } while (!isOver());
        throw new IllegalStateException("timed out after " + length + " waiting for " + what
                + (last == null ? "" : " (" + last + ")") + details.get(), last);
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Impossible("interrupted while waiting", e);
        }
    }

    /** Thrown by a condition that can no longer be met, for example because the process has died. */
    public static final class Impossible extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public Impossible(String message) {
            super(message);
        }

        Impossible(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
