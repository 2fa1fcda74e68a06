package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Flink cluster of separate processes, one JobManager and some TaskManagers. From the class path of this JVM, which is all of
 * Flink that Maven gives, class loading is flat and not parent-first/child-first as in an installation.
 */
public final class FlinkCluster implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final Path folder = Workspace.temporary("cluster");
    private final Map<String, ChildProcess> taskManagers = new LinkedHashMap<>();
    private final FlinkRest rest;
    private final Map<String, String> environment;
    private final String classPath;
    private final ChildProcess jobManager;
    private int started;
    /** CPU of TaskManagers that have ended. */
    private double endedCpuSeconds;

    private FlinkCluster(int slotsPerTaskManager, Map<String, String> environment, String classPath) {
        this.environment = environment;
        this.classPath = classPath;
        int[] ports = FreePorts.find(2);
        rest = new FlinkRest("127.0.0.1", ports[1]);
        try {
            Files.createDirectories(folder.resolve("conf"));
            Files.createDirectories(folder.resolve("tmp"));
            Files.writeString(folder.resolve("conf/config.yaml"),
                    FlinkClusterConfig.yaml(ports[0], ports[1], slotsPerTaskManager, folder));
            Files.writeString(folder.resolve("log4j2.properties"), FlinkClusterConfig.LOGGING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        jobManager = launch("jobmanager", "512m",
                List.of("org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"), List.of());
    }

    /**
     * Starts a cluster and waits until all TaskManagers are registered.
     *
     * @param environment added to the environment of all its processes
     */
    public static FlinkCluster start(int taskManagers, int slotsPerTaskManager, Map<String, String> environment) {
        return start(taskManagers, slotsPerTaskManager, environment, System.getProperty("java.class.path"));
    }

    /**
     * As above from other jars.
     *
     * @param classPath of all its processes
     */
    public static FlinkCluster start(int taskManagers, int slotsPerTaskManager, Map<String, String> environment,
            String classPath) {
        FlinkCluster cluster = new FlinkCluster(slotsPerTaskManager, environment, classPath);
        try {
            for (int i = 0; i < taskManagers; i++) {
                cluster.startTaskManager();
            }
            cluster.awaitTaskManagers(taskManagers);
            return cluster;
        } catch (RuntimeException e) {
            cluster.keepLogs("cluster-start");
            cluster.close();
            throw e;
        }
    }

    public FlinkRest rest() {
        return rest;
    }

    /** The folder with the cluster's config.yaml, for a client that is to find it. */
    public Path configuration() {
        return folder.resolve("conf");
    }

    /** Starts one more TaskManager and returns its resource id; see {@link #awaitTaskManagers}. */
    public String startTaskManager() {
        String id = "tm-" + ++started;
        taskManagers.put(id, launch(id, "768m",
                List.of("-XX:MaxDirectMemorySize=384m", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"),
                List.of("-D", "taskmanager.resource-id=" + id)));
        return id;
    }

    /** Waits until exactly this many TaskManagers are registered. */
    public void awaitTaskManagers(int count) {
        Deadline.in(START_TIMEOUT).await(count + " registered TaskManagers", () -> {
            jobManager.requireAlive();
            taskManagers.values().forEach(ChildProcess::requireAlive);
            return rest.taskManagers() == count;
        }, jobManager::logTail);
    }

    /** The process of a TaskManager by its resource id. */
    public ChildProcess taskManager(String id) {
        ChildProcess process = taskManagers.get(id);
        if (process == null) {
            throw new IllegalArgumentException("no TaskManager " + id + ", there are " + taskManagers.keySet());
        }
        return process;
    }

    /** SIGKILL to a TaskManager; nothing in it gets a chance to clean up. */
    public void killTaskManager(String id) {
        ChildProcess process = taskManager(id);
        process.kill();
        endedCpuSeconds += process.cpuSeconds();
        taskManagers.remove(id);
    }

    /** Whether a TaskManager has ended by itself. */
    public boolean hasDeadTaskManager() {
        return taskManagers.values().stream().anyMatch(process -> !process.isAlive());
    }

    /** Starts one new TaskManager for each that has ended by itself, and waits until all are registered. */
    public void replaceDeadTaskManagers() {
        int count = taskManagers.size();
        taskManagers.values().removeIf(process -> !process.isAlive());
        while (taskManagers.size() < count) {
            startTaskManager();
        }
        awaitTaskManagers(count);
    }

    /** Ends all TaskManagers and starts as many new ones, so that a measurement meets no warm JVM. */
    public void replaceTaskManagers() {
        int count = taskManagers.size();
        for (ChildProcess process : List.copyOf(taskManagers.values())) {
            process.stop(STOP_TIMEOUT);
            endedCpuSeconds += process.cpuSeconds();
        }
        taskManagers.clear();
        Deadline.in(START_TIMEOUT).await("the TaskManagers to be gone", () -> rest.taskManagers() == 0);
        for (int i = 0; i < count; i++) {
            startTaskManager();
        }
        awaitTaskManagers(count);
    }

    /** CPU seconds of the JobManager and of all TaskManagers, ended ones included, since the cluster was started. */
    public double cpuSeconds() {
        return jobManager.cpuSeconds() + endedCpuSeconds
                + taskManagers.values().stream().mapToDouble(ChildProcess::cpuSeconds).sum();
    }

    /** Copies all logs of the cluster to out/logs, for a person who looks into a failure. */
    public void keepLogs(String name) {
        Path target = Workspace.out().resolve("logs").resolve(name);
        try (var files = Files.list(folder)) {
            Files.createDirectories(target);
            for (Path log : files.filter(f -> f.toString().endsWith(".log")).toList()) {
                Files.copy(log, target.resolve(log.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep logs in " + target, e);
        }
    }

    @Override
    public void close() {
        taskManagers.values().forEach(process -> process.stop(STOP_TIMEOUT));
        jobManager.stop(STOP_TIMEOUT);
        Workspace.delete(folder);
    }

    private ChildProcess launch(String name, String heap, List<String> flagsAndMain, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(JavaCommand.java(), "-Xmx" + heap));
        command.addAll(JavaCommand.flinkModuleFlags());
        command.addAll(List.of(
                "-Djava.io.tmpdir=" + folder.resolve("tmp"),
                "-Dlog4j2.configurationFile=" + folder.resolve("log4j2.properties"),
                "-cp", classPath));
        command.addAll(flagsAndMain);
        command.addAll(List.of("--configDir", folder.resolve("conf").toString()));
        command.addAll(arguments);
        return ChildProcess.start(name, command, environment, folder.resolve(name + ".log"));
    }
}
