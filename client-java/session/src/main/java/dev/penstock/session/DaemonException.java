package dev.penstock.session;

import dev.penstock.proto.v1.Error;
import dev.penstock.proto.v1.ErrorKind;
import io.grpc.Status;
import java.io.IOException;

/**
 * The one exception of this module; a denial of memory has a class of its own. Its kind names the next action of the
 * caller (see {@code error.proto}); its message is written for a person.
 *
 * <p>This class is also the client's only classifier: faults of sockets, of gRPC and of the daemon get their kind here.
 * The rule: before a writer has begun an epoch nothing can be lost, so the stock sink can do the job (FALL_BACK);
 * afterwards the open epoch is lost and the task must fail (FAIL_EPOCH).
 */
public sealed class DaemonException extends IOException permits NativeMemoryLimitException {

    private static final long serialVersionUID = 1L;

    private final ErrorKind kind;

    /**
     * Creates an exception without a cause.
     *
     * @param kind the next action of whoever catches it
     * @param message names the option or step, the value, and what to do
     */
    public DaemonException(ErrorKind kind, String message) {
        this(kind, message, null);
    }

    /**
     * Creates an exception.
     *
     * @param kind the next action of whoever catches it
     * @param message names the option or step, the value, and what to do
     * @param cause what was caught, or null
     */
    public DaemonException(ErrorKind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind == ErrorKind.ERROR_KIND_UNSPECIFIED || kind == ErrorKind.UNRECOGNIZED
                ? ErrorKind.INTERNAL : kind;
    }

    /** The next action; never unspecified. */
    public ErrorKind kind() {
        return kind;
    }

    /** An error that the daemon itself reported: its kind, its text, and in front of it what was asked. */
    static DaemonException reported(String step, Error error) {
        String text = error.getMessage().isEmpty() ? "no reason given" : error.getMessage();
        return error.getKind() == ErrorKind.DENIED
                ? new NativeMemoryLimitException(step + ": " + text, null)
                : new DaemonException(error.getKind(), step + ": " + text);
    }

    /**
     * The end of a gRPC stream with a fault.
     *
     * @param step what was going on
     * @param fault what the observer was given
     * @param begun whether an epoch may be open: decides between FALL_BACK and FAIL_EPOCH
     */
    static DaemonException ofStream(String step, Throwable fault, boolean begun) {
        Status status = Status.fromThrowable(fault);
        String text = status.getDescription() == null ? String.valueOf(fault.getMessage()) : status.getDescription();
        return new DaemonException(kindOf(status.getCode(), begun), step + ": " + status.getCode() + ": " + text,
                fault);
    }

    /** The same fault again, thrown now: the caller's stack on top, the first occurrence as cause. */
    DaemonException again() {
        return new DaemonException(kind, getMessage(), this);
    }

    private static ErrorKind kindOf(Status.Code code, boolean begun) {
        return switch (code) {
            case INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE -> ErrorKind.BAD_REQUEST;
            case UNAUTHENTICATED, PERMISSION_DENIED -> ErrorKind.FOREIGN_HANDLE;
            case RESOURCE_EXHAUSTED -> ErrorKind.DENIED;
            // An older daemon that lacks the service or the call: the stock sink can still do the job.
            case UNIMPLEMENTED -> begun ? ErrorKind.FAIL_EPOCH : ErrorKind.FALL_BACK;
            case UNAVAILABLE, CANCELLED, ABORTED, DEADLINE_EXCEEDED ->
                    begun ? ErrorKind.FAIL_EPOCH : ErrorKind.FALL_BACK;
            default -> ErrorKind.INTERNAL;
        };
    }
}
