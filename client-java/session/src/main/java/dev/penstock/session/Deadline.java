package dev.penstock.session;

import java.time.Duration;

/** A point in time by which a step must have ended. Immutable; measured with {@link System#nanoTime()}. */
final class Deadline {

    private final long startNanos;
    private final long limitNanos;

    private Deadline(long limitNanos) {
        this.startNanos = System.nanoTime();
        this.limitNanos = limitNanos;
    }

    /** A deadline that expires this long from now. */
    static Deadline in(Duration limit) {
        return new Deadline(saturatedNanos(limit));
    }

    long remainingNanos() {
        return Math.max(0, limitNanos - (System.nanoTime() - startNanos));
    }

    boolean expired() {
        return remainingNanos() == 0;
    }

    /** The whole time that the step was given, for messages: "250 ms" or "30 s". */
    String limit() {
        long millis = limitNanos / 1_000_000;
        return millis >= 10_000 ? millis / 1_000 + " s" : millis + " ms";
    }

    // Duration.ofMillis(Long.MAX_VALUE) is how Flink spells "no limit"; toNanos would throw.
    private static long saturatedNanos(Duration limit) {
        return limit.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) > 0 ? Long.MAX_VALUE / 2 : limit.toNanos();
    }
}
