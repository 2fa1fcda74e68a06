package dev.penstock.integration.soak;

import java.util.Locale;
import java.util.SplittableRandom;

/** What happens in a round beside its rows and its checkpoint. */
enum Operation {
    CHECKPOINT(8),
    /** SIGKILL to the TaskManager of a sink; a new one takes its place. */
    TASKMANAGER_KILL(14),
    /** SIGSTOP for less than the heartbeat timeout, then SIGCONT. */
    TASKMANAGER_STOP(6),
    /** SIGSTOP for so long that the job comes back elsewhere, then SIGCONT: two attempts live at one time. */
    TASKMANAGER_FREEZE(3),
    DAEMON_KILL(14),
    DAEMON_STOP(8),
    BROKER_STOP(6),
    /** SIGSTOP of the broker for longer than the checkpoint timeout. */
    DECLINED_CHECKPOINT(6),
    BROKER_RESTART(4),
    /** Cancelled, and submitted anew from the retained checkpoint. */
    CANCEL_AND_RESTORE(10),
    STOP_WITH_SAVEPOINT(8),
    RESCALE(8),
    /** From the stock sink to Penstock's or back, at a savepoint. */
    SWAP_SINK(12);

    private final int weight;

    Operation(int weight) {
        this.weight = weight;
    }

    static Operation draw(SplittableRandom random) {
        int total = 0;
        for (Operation operation : values()) {
            total += operation.weight;
        }
        int at = random.nextInt(total);
        for (Operation operation : values()) {
            at -= operation.weight;
            if (at < 0) {
                return operation;
            }
        }
        throw new IllegalStateException("weights do not add up");
    }

    /** As the result spells it. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }
}
