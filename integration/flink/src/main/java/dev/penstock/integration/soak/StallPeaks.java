package dev.penstock.integration.soak;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.ProcessSample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The most that daemon and TaskManager held while a broker stood still, and the bounds of it. */
final class StallPeaks {
    private static final long MIB = 1 << 20;
    /** What FlinkClusterConfig gives the TaskManager: task off-heap, and the heap of its JVM. */
    private static final long BUDGET_BYTES = 256 * MIB;
    private static final long TASK_MANAGER_HEAP_BYTES = 768 * MIB;
    /** Beside its heap a JVM has stacks, metaspace, code and direct buffers. */
    private static final long TASK_MANAGER_REST_BYTES = 512 * MIB;
    /** process.go_memory_limit, and what librdkafka and encoders of a writer may hold beside it. */
    private static final long DAEMON_HEAP_BYTES = 256 * MIB;
    private static final long WRITER_BYTES = 32 * MIB;

    private final DaemonProcess daemon;
    private final long taskManager;
    private final Path folder;
    private final int writers;
    private long leased;
    private long arena;
    private long arenaCapacity;
    private long daemonAnonymous;
    private long taskManagerAnonymous;
    private long parked;
    private long diskUsed;
    private long diskFiles;

    /**
     * Of one daemon and one TaskManager.
     *
     * @param taskManager its process id
     * @param folder of the spill files
     */
    StallPeaks(DaemonProcess daemon, long taskManager, Path folder, int writers) {
        this.daemon = daemon;
        this.taskManager = taskManager;
        this.folder = folder;
        this.writers = writers;
    }

    void sample() throws IOException {
        DaemonStatus status = daemon.status();
        leased = Math.max(leased, status.memory("leased_bytes"));
        arena = Math.max(arena, status.memory("kernel_bytes"));
        arenaCapacity = status.memory("capacity_bytes");
        parked = Math.max(parked, status.slots("slots_parked"));
        diskUsed = Math.max(diskUsed, status.spill("used_bytes"));
        diskFiles = Math.max(diskFiles, bytesOf(folder));
        daemonAnonymous = Math.max(daemonAnonymous, anonymous(daemon.process().pid()));
        taskManagerAnonymous = Math.max(taskManagerAnonymous, anonymous(taskManager));
    }

    long parked() {
        return parked;
    }

    /** Adds a line for each bound that did not hold. */
    void judge(List<String> faults) {
        require(faults, "leased memory", leased, BUDGET_BYTES);
        require(faults, "the arena", arena, arenaCapacity);
        require(faults, "the daemon's heap", daemonAnonymous, DAEMON_HEAP_BYTES + writers * WRITER_BYTES);
        require(faults, "the TaskManager's memory", taskManagerAnonymous,
                TASK_MANAGER_HEAP_BYTES + TASK_MANAGER_REST_BYTES);
        require(faults, "the disk by the daemon's own count", diskUsed, StallSettings.QUOTA_BYTES);
        require(faults, "the disk", diskFiles, StallSettings.QUOTA_BYTES);
    }

    void report(Map<String, Object> json) {
        json.put("most_parked_batches", parked);
        json.put("most_leased_bytes", leased);
        json.put("most_arena_bytes", arena);
        json.put("most_daemon_anonymous_bytes", daemonAnonymous);
        json.put("most_taskmanager_anonymous_bytes", taskManagerAnonymous);
        json.put("most_spill_bytes", diskUsed);
        json.put("most_spill_file_bytes", diskFiles);
    }

    private static void require(List<String> faults, String what, long bytes, long bound) {
        if (bytes > bound) {
            faults.add(what + " rose to " + bytes + " bytes, its bound is " + bound);
        }
    }

    private static long anonymous(long pid) throws IOException {
        return 1024 * ProcessSample.of(pid).anonymousKilobytes();
    }

    private static long bytesOf(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(folder)) {
            // The daemon deletes files meanwhile: their length is 0 then.
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }
}
