package dev.penstock.flink.sink;

/**
 * When the next barrier is probably due: as long after the last one as that came after the one before. Checkpoints are
 * periodic; one that comes at another time finds rows that linger, and nothing else is lost. Times are milliseconds of the
 * task's clock. Used by the task thread only.
 */
final class ExpectedBarrier {

    /** How far from its expectation a barrier may be; pace.near is the daemon's. */
    private static final long NEAR_MILLIS = 20;

    private boolean known;
    private long last;
    private boolean expected;
    private long next;

    /** A barrier has come. */
    void passed(long now) {
        expected = known;
        next = now + (now - last);
        known = true;
        last = now;
    }

    /** Whether the next barrier may come at any moment. */
    boolean isNear(long now) {
        return expected && Math.abs(next - now) <= NEAR_MILLIS;
    }
}
