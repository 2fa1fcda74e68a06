package dev.penstock.integration.nexmark;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;

/**
 * So many rows a second over all subtasks, in small bursts: what is due is let through at once, then the source sleeps for a
 * millisecond. Flink's own strategy ({@code GuavaRateLimiter}) hands each single row to another thread and back; those two
 * wake-ups cost some 20 us of processor time for each row, ten times what a sink needs, so that a benchmark would measure them.
 */
@SuppressWarnings("rawtypes") // both interfaces have a parameter since Flink 2.2
final class PacedRate implements RateLimiterStrategy {
    private static final long serialVersionUID = 1L;

    private final long perSecond;

    PacedRate(long perSecond) {
        this.perSecond = perSecond;
    }

    @Override
    public RateLimiter createRateLimiter(int parallelism) {
        return new Pacer((double) perSecond / parallelism);
    }

    /** One subtask's share; used by its task thread only. */
    private static final class Pacer implements RateLimiter {
        private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);
        private static final double NANOS = 1e9;
        /** A source that was held back catches up, but not on more than this. */
        private static final long MOST_BEHIND_NANOS = TimeUnit.SECONDS.toNanos(1);

        private final double nanosForRow;
        /** When the next row is due, by System.nanoTime(). */
        private double due = System.nanoTime();

        Pacer(double perSecond) {
            nanosForRow = NANOS / perSecond;
        }

        /** What Flink calls before 2.2. */
        public CompletionStage<Void> acquire() {
            return acquire(1);
        }

        /** What Flink calls since 2.2. */
        public CompletionStage<Void> acquire(int rows) {
            long now = System.nanoTime();
            double at = Math.max(due, now - MOST_BEHIND_NANOS);
            due = at + rows * nanosForRow;
            if (at <= now) {
                return NOW;
            }
            long wait = Math.max((long) (at - now), TimeUnit.MILLISECONDS.toNanos(1));
            return new CompletableFuture<Void>().completeOnTimeout(null, wait, TimeUnit.NANOSECONDS);
        }
    }
}
