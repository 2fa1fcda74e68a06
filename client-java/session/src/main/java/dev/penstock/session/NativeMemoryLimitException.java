package dev.penstock.session;

import dev.penstock.proto.v1.ErrorKind;

/**
 * The daemon denied memory that this process asked for. The message is the daemon's: who asked for how many bytes, what
 * the process has reserved of its capacity, the peak, and the setting to raise ({@value #BUDGET_SETTING}, or the daemon's
 * own {@code arena.capacity} when all processes together use it up). Of kind {@link ErrorKind#DENIED}.
 *
 * <p>Thrown after the wait for memory that others give back was in vain, and at once where no wait can help.
 */
public final class NativeMemoryLimitException extends DaemonException {

    /** The one setting of a TaskManager process's budget, in bytes. */
    public static final String BUDGET_SETTING = "taskmanager.memory.task.off-heap.size";

    private static final long serialVersionUID = 1L;

    NativeMemoryLimitException(String message, Throwable cause) {
        super(ErrorKind.DENIED, message, cause);
    }

    /**
     * A budget that no lease can ever come from.
     *
     * @param budgetBytes what the process may hold
     * @param segmentBytes the unit of a lease, {@code arena.segment} of the daemon
     */
    static NativeMemoryLimitException ofSmallBudget(String peer, long budgetBytes, long segmentBytes) {
        return new NativeMemoryLimitException("the memory budget of this TaskManager is " + budgetBytes + " bytes, and "
                + peer + " leases segments of " + segmentBytes + " bytes: raise '" + BUDGET_SETTING + "' to at least "
                + segmentBytes + " bytes, or lower arena.segment in penstockd's configuration", null);
    }

    /** The same denial after a wait in vain, thrown now. */
    NativeMemoryLimitException afterWaiting(Deadline deadline, String outstanding) {
        return new NativeMemoryLimitException(getMessage() + "; nothing was given back within " + deadline.limit() + " ("
                + outstanding + ")", this);
    }

    @Override
    NativeMemoryLimitException again() {
        return new NativeMemoryLimitException(getMessage(), this);
    }
}
