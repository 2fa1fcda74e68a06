package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;

/** Flink's MiniCluster in this JVM, with REST on a free port of the loopback interface. */
public final class LocalCluster implements AutoCloseable {
    private static final long CLOSE_SECONDS = 60;
    /** The thread group of Flink's Task. */
    private static final String TASK_THREADS = "Flink Task Threads";
    private static final int FRAMES = 15;

    private final Path folder = Workspace.temporary("minicluster");
    private final MiniCluster cluster;
    private final FlinkRest rest;
    private final int taskManagers;

    private LocalCluster(int taskManagers, int slots, int offHeapMegabytes) throws Exception {
        this.taskManagers = taskManagers;
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(RestOptions.ADDRESS, "127.0.0.1");
        configuration.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        configuration.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, MemorySize.ofMebiBytes(offHeapMegabytes));
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
        configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(100));
        // Tests read metrics; the default of 10 s would make them wait.
        configuration.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, Duration.ofMillis(200));
        // Likewise for the state of jobs, which REST remembers for 3 s by default.
        configuration.set(WebOptions.REFRESH_INTERVAL, Duration.ofMillis(100));
        // All checkpoints of a benchmark leg are wanted for its percentiles.
        configuration.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, 10_000);
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(taskManagers)
                .setNumSlotsPerTaskManager(slots)
                .build());
        cluster.start();
        URI address = cluster.getRestAddress().get(CLOSE_SECONDS, TimeUnit.SECONDS);
        rest = new FlinkRest(address.getHost(), address.getPort());
    }

    /** Starts a cluster with plenty of task off-heap memory and waits until REST answers. */
    public static LocalCluster start(int taskManagers, int slots) {
        return start(taskManagers, slots, 256);
    }

    /**
     * Starts a cluster and waits until REST answers.
     *
     * @param offHeapMegabytes {@code taskmanager.memory.task.off-heap.size}, from which shared memory is paid
     */
    public static LocalCluster start(int taskManagers, int slots, int offHeapMegabytes) {
        try {
            return new LocalCluster(taskManagers, slots, offHeapMegabytes);
        } catch (Exception e) {
            throw new IllegalStateException("cannot start a MiniCluster", e);
        }
    }

    public FlinkRest rest() {
        return rest;
    }

    /**
     * Fails when a TaskManager is gone: its tasks run in this JVM, nobody kills it, so a fault of a task has ended it,
     * and every job would wait for slots until its own time is over.
     */
    public void requireTaskManagers() {
        try {
            int left = rest.taskManagers();
            if (left != taskManagers) {
                throw new IllegalStateException(left + " of " + taskManagers + " TaskManagers are left: a task must have "
                        + "failed in a way that Flink takes for the end of the process");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where the task threads stand, for the explanation of a failure. */
    public Diagnosis diagnosis() {
        return new Diagnosis().with("threads of tasks", LocalCluster::taskThreads);
    }

    private static String taskThreads() {
        StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (thread.getThreadGroup() != null && thread.getThreadGroup().getName().equals(TASK_THREADS)) {
                text.append(thread.getName()).append(' ').append(thread.getState()).append('\n');
                Arrays.stream(stack).limit(FRAMES).forEach(frame -> text.append("    ").append(frame).append('\n'));
            }
        });
        return text.isEmpty() ? "none" : text.toString();
    }

    @Override
    public void close() {
        try {
            cluster.closeAsync().get(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException("the MiniCluster does not end", e);
        } finally {
            Workspace.delete(folder);
        }
    }
}
