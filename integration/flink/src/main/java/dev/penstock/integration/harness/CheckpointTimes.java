package dev.penstock.integration.harness;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/**
 * Where the time of one complete checkpoint went, milliseconds. REST tells for each subtask when it had acknowledged, how long the
 * barrier took to reach it, and how long its snapshot took; what is left is what its operators did before the barrier went on
 * ({@code prepareSnapshotPreBarrier}), which for a sink is the flush, or seal. Each part is that of the subtask in which it was longest.
 *
 * @param endToEnd from the trigger to the last acknowledgement
 * @param startDelay from the trigger until the task took the barrier up
 * @param flush from there until the snapshot began
 * @param snapshot the synchronous part of the snapshot; a Kafka writer opens its next transaction there
 * @param held flush and snapshot together: how long the task wrote nothing
 */
public record CheckpointTimes(long endToEnd, long startDelay, long flush, long snapshot, long held) {

    /** The times of a checkpoint before any of its subtasks is looked at. */
    static CheckpointTimes of(long endToEnd) {
        return new CheckpointTimes(endToEnd, 0, 0, 0, 0);
    }

    /** With one more subtask, as /checkpoints/details/:id/subtasks/:vertex lists it; one that acknowledged nothing changes nothing. */
    CheckpointTimes with(JsonNode subtask) {
        if (!subtask.path("status").asText().equals("completed")) {
            return this;
        }
        JsonNode parts = subtask.path("checkpoint");
        long delay = subtask.path("start_delay").asLong();
        long sync = parts.path("sync").asLong();
        long rest = subtask.path("end_to_end_duration").asLong() - delay - sync - parts.path("async").asLong()
                - subtask.path("alignment").path("duration").asLong();
        return new CheckpointTimes(endToEnd, Math.max(startDelay, delay), Math.max(flush, rest), Math.max(snapshot, sync),
                Math.max(held, rest + sync));
    }
}
