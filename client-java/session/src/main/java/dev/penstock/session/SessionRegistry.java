package dev.penstock.session;

import dev.penstock.proto.v1.ErrorKind;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The sessions of this process, one for each folder of sockets. The first caller opens, others that come meanwhile wait
 * for the same attempt and share its outcome: ten subtasks in front of a stopped daemon wait once, not ten times in a
 * row.
 */
final class SessionRegistry {

    private static final Map<Path, CompletableFuture<DaemonSession>> SESSIONS = new HashMap<>();

    private SessionRegistry() {}

    /** A living session with one more reference held by the caller. */
    static DaemonSession acquire(SessionSettings settings) throws DaemonException {
        Deadline deadline = Deadline.in(settings.connectTimeout());
        for (;;) {
            CompletableFuture<DaemonSession> mine = new CompletableFuture<>();
            CompletableFuture<DaemonSession> current = current(settings.directory(), mine);
            if (current == mine) {
                return open(settings, mine);
            }
            DaemonSession session = await(current, settings, deadline);
            if (session.looksAlive(deadline) && session.tryRetain()) {
                return session;
            }
            // Broken, or released by its last user since: make room for a new one and try again.
            forget(settings.directory(), current);
        }
    }

    private static CompletableFuture<DaemonSession> current(Path directory, CompletableFuture<DaemonSession> mine) {
        synchronized (SESSIONS) {
            CompletableFuture<DaemonSession> present = SESSIONS.putIfAbsent(directory, mine);
            return present == null ? mine : present;
        }
    }

    private static DaemonSession open(SessionSettings settings, CompletableFuture<DaemonSession> mine)
            throws DaemonException {
        try {
            DaemonSession session = DaemonSession.open(settings);
            mine.complete(session);
            return session;
        } catch (DaemonException | RuntimeException | java.lang.Error e) {
            forget(settings.directory(), mine);
            mine.completeExceptionally(e);
            throw e;
        }
    }

    private static DaemonSession await(
            CompletableFuture<DaemonSession> attempt, SessionSettings settings, Deadline deadline)
            throws DaemonException {
        try {
            return attempt.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DaemonException(ErrorKind.RETRY, "interrupted while the session was being opened", e);
        } catch (TimeoutException e) {
            throw new DaemonException(ErrorKind.FALL_BACK, "no session with penstockd at " + settings.sessionSocket()
                    + " within " + deadline.limit() + ": it is stopped or overloaded", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof DaemonException ours ? ours.again()
                    : new DaemonException(ErrorKind.INTERNAL, "opening the session failed: " + e.getCause(),
                    e.getCause());
        }
    }

    private static void forget(Path directory, CompletableFuture<DaemonSession> attempt) {
        synchronized (SESSIONS) {
            SESSIONS.remove(directory, attempt);
        }
    }

    /** Drops a session that has ended, so that the next acquire opens a new one at once. */
    static void forget(DaemonSession session) {
        synchronized (SESSIONS) {
            CompletableFuture<DaemonSession> known = SESSIONS.get(session.settings().directory());
            if (known != null && known.isDone() && !known.isCompletedExceptionally() && known.join() == session) {
                SESSIONS.remove(session.settings().directory());
            }
        }
    }
}
