package dev.penstock.flink.sink;

/**
 * Rings after a while. Not Flink's ProcessingTimeService: that of an operator is quiet from the end of its input (or
 * from a stop with a savepoint) on, and the transaction that is sealed there is still to be committed. One user;
 * closed by it.
 */
interface AlarmClock extends AutoCloseable {

    /** Milliseconds of a clock that nobody sets; only differences mean something. */
    long millis();

    /** Runs {@code action} once on a foreign thread, at least {@code delayMillis} from now; never after close. */
    void ring(long delayMillis, Runnable action);

    /** Forgets what has not rung yet and does not wait. Idempotent. */
    @Override
    void close();
}
