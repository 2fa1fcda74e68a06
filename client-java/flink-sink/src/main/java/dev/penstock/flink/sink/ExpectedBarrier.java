package dev.penstock.flink.sink;

/**
 * When the next barrier is probably due: as long after the last one as that came after the one before. Checkpoints are
 * periodic; one that comes at another time finds rows that linger, and nothing else is lost. Times are milliseconds of the
 * task's clock. Used by the task thread only.
 */
final class ExpectedBarrier {

    /** How far from its expectation a barrier may be; pace.near is the daemon's. */
    private static final long NEAR_MILLIS = 20;

    private static final long NEVER = Long.MIN_VALUE;

    private long last = NEVER;
    private long next = NEVER;

    /** A barrier has come. */
    void passed(long now) {
        next = last == NEVER ? NEVER : now + (now - last);
        last = now;
    }

    /** Whether the next barrier may come at any moment. */
    boolean isNear(long now) {
        return next != NEVER && Math.abs(next - now) <= NEAR_MILLIS;
    }
}
