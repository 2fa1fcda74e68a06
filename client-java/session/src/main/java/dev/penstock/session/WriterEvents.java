package dev.penstock.session;

import dev.penstock.proto.v1.AccountReport;
import dev.penstock.proto.v1.ErrorKind;
import dev.penstock.proto.v1.WriteEvent;
import dev.penstock.proto.v1.WriteRequest;
import dev.penstock.proto.v1.WriterProgress;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * What comes back on a writer's stream. gRPC calls the observer methods on its own thread (directExecutor: the event
 * loop), so nothing here blocks. At most one answer is awaited at a time, because one task thread asks.
 */
final class WriterEvents implements ClientResponseObserver<WriteRequest, WriteEvent> {

    /** How long the reason may take that ended a line. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    /** An answer that the task waits for. */
    private record Pending(WriteEvent.EventCase expected, CompletableFuture<WriteEvent> answer) {}

    private final Runnable onFault;
    private final Consumer<AccountReport> onAccount;
    private final AtomicReference<DaemonException> failure = new AtomicReference<>();
    private final AtomicReference<Runnable> listener = new AtomicReference<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch failed = new CountDownLatch(1);
    private volatile Runnable waker = () -> { };
    private volatile Pending pending;
    private volatile WriterProgress progress = WriterProgress.getDefaultInstance();
    private volatile boolean opened;
    private volatile boolean closing;
    private volatile ClientCallStreamObserver<WriteRequest> requests;

    /**
     * Creates the observer.
     *
     * @param onFault called when the stream breaks off, so that the session looks after its life line; must not block
     * @param onAccount given each report of the process's memory; must not block
     */
    WriterEvents(Runnable onFault, Consumer<AccountReport> onAccount) {
        this.onFault = onFault;
        this.onAccount = onAccount;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WriteRequest> stream) {
        requests = stream;
    }

    @Override
    public void onNext(WriteEvent event) {
        switch (event.getEventCase()) {
            case FAILED -> fail(DaemonException.reported(
                    opened ? "writer failed in epoch " + event.getFailed().getEpochId() : "the writer was refused",
                    event.getFailed().getError()));
            case PROGRESS -> {
                progress = event.getProgress();
                if (progress.hasAccount()) {
                    onAccount.accept(progress.getAccount());
                }
            }
            case WARMED -> {
                // For the daemon's own tests; the writer learns from EpochBegun whether the warm-up paid.
            }
            default -> answer(event);
        }
    }

    @Override
    public void onError(Throwable fault) {
        fail(DaemonException.ofStream("writer's stream broke off", fault, opened));
        ended.countDown();
        if (!closing) {
            onFault.run();
        }
    }

    @Override
    public void onCompleted() {
        if (!closing) {
            fail(new DaemonException(opened ? ErrorKind.FAIL_EPOCH : ErrorKind.FALL_BACK,
                    "the daemon ended the writer's stream without giving a reason; its log says more"));
        }
        ended.countDown();
    }

    /** The stream to write requests to; only the task thread does. */
    ClientCallStreamObserver<WriteRequest> requests() {
        return requests;
    }

    WriterProgress progress() {
        return progress;
    }

    /** From here on the epoch may be open: a fault loses it. */
    void markOpened() {
        opened = true;
    }

    /** From here on the end of the stream is what was asked for. */
    void markClosing() {
        closing = true;
    }

    boolean hasFailed() {
        return failure.get() != null;
    }

    /** Throws the first failure, if there is one; one volatile read otherwise. */
    void check() throws DaemonException {
        DaemonException first = failure.get();
        if (first != null) {
            throw first.again();
        }
    }

    /** Records the failure if it is the first, wakes the waiting task, and calls the listener. Any thread. */
    void fail(DaemonException reason) {
        if (failure.compareAndSet(null, reason)) {
            Pending waiting = pending;
            if (waiting != null) {
                waiting.answer.completeExceptionally(reason);
            }
            failed.countDown();
            waker.run();
            notifyListener();
        }
    }

    /** Sets who is told of the failure, once; told at once, on this thread, when it has happened already. */
    void listen(Runnable newListener) {
        listener.set(newListener);
        if (hasFailed()) {
            notifyListener();
        }
    }

    /** Announces which event the next {@link #await} waits for; to be called before the request is sent. */
    void expect(WriteEvent.EventCase expected) throws DaemonException {
        pending = new Pending(expected, new CompletableFuture<>());
        // A failure that came before pending was set has woken nobody.
        check();
    }

    /**
     * Waits for the expected event.
     *
     * @param step what was asked, for messages
     * @param peer the daemon, for messages
     * @throws DaemonException the writer's failure; or none came in time, which fails the writer: a late answer could
     *     not be told from the next one
     */
    WriteEvent await(String step, String peer, Deadline deadline) throws DaemonException {
        try {
            return pending.answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            check();
            throw new DaemonException(ErrorKind.INTERNAL, step + " failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw noAnswer(step, peer, deadline);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DaemonException(ErrorKind.RETRY, "interrupted while waiting: " + step, e);
        } finally {
            pending = null;
        }
    }

    /** Fails the writer because an answer did not come in time, and throws its first failure. */
    DaemonException noAnswer(String step, String peer, Deadline deadline) throws DaemonException {
        fail(new DaemonException(opened ? ErrorKind.FAIL_EPOCH : ErrorKind.FALL_BACK, step + ": no answer from "
                + peer + " within " + deadline.limit()
                + ": it is stopped or overloaded, or its broker does not answer; `penstockd status` shows which"));
        check();
        throw new IllegalStateException("a failed writer has no failure");
    }

    /**
     * Fails the writer because its line broke. Mostly that is the end of the daemon or of the stream, whose own words come a
     * moment later and say more.
     */
    DaemonException lost(String peer, IOException fault) throws DaemonException {
        awaitFailure(Deadline.in(GRACE));
        fail(new DaemonException(ErrorKind.FAIL_EPOCH, "lost " + peer + ": " + fault.getMessage(), fault));
        check();
        throw new IllegalStateException("a failed writer has no failure", fault);
    }

    /** Sets who is woken by a failure, beside whoever awaits an answer here; it must not block. */
    void wakeOnFailure(Runnable newWaker) {
        waker = newWaker;
        if (hasFailed()) {
            newWaker.run();
        }
    }

    /** Returns when the writer has failed, or at the deadline. */
    private void awaitFailure(Deadline deadline) {
        try {
            failed.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the end of the stream. */
    boolean awaitEnd(Deadline deadline) throws InterruptedException {
        return ended.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
    }

    private void answer(WriteEvent event) {
        Pending waiting = pending;
        if (waiting != null && waiting.expected == event.getEventCase()) {
            waiting.answer.complete(event);
        } else {
            unexpected(event, waiting == null ? "no answer" : waiting.expected.name());
        }
    }

    /** Fails the writer because of an answer that nobody has asked for. */
    void unexpected(WriteEvent answer, String awaited) {
        fail(new DaemonException(ErrorKind.INTERNAL,
                "the daemon sent " + answer.getEventCase() + " while " + awaited + " was awaited"));
    }

    private void notifyListener() {
        Runnable once = listener.getAndSet(null);
        if (once != null) {
            once.run();
        }
    }
}
