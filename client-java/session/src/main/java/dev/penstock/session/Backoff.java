package dev.penstock.session;

import dev.penstock.proto.v1.ErrorKind;
import java.util.concurrent.locks.LockSupport;

/**
 * Waiting for something that gives no signal (a word in shared memory, a non-blocking socket): spins first, because the
 * answer is often microseconds away, then parks for twice as long each time, up to one millisecond. Not thread-safe.
 */
final class Backoff {

    private static final int SPINS = 64;
    private static final long FIRST_PARK_NANOS = 20_000;
    private static final long LONGEST_PARK_NANOS = 1_000_000;

    private int spins;
    private long parkNanos = FIRST_PARK_NANOS;

    /**
     * Waits once.
     *
     * @param step what is waited for, for the message when the thread is interrupted
     * @throws DaemonException of kind RETRY when the thread is interrupted; the interrupt flag stays set
     */
    void pause(String step) throws DaemonException {
        if (Thread.currentThread().isInterrupted()) {
            throw new DaemonException(ErrorKind.RETRY, "interrupted while waiting: " + step);
        }
        if (spins < SPINS) {
            spins++;
            Thread.onSpinWait();
            return;
        }
        LockSupport.parkNanos(this, parkNanos);
        parkNanos = Math.min(2 * parkNanos, LONGEST_PARK_NANOS);
    }
}
