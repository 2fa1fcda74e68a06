package dev.penstock.integration.harness;

import java.nio.file.Path;

/** The files that {@link FlinkCluster} writes for its processes. */
final class FlinkClusterConfig {
    static final String LOGGING = """
            rootLogger.level = INFO
            rootLogger.appenderRef.console.ref = console
            appender.console.type = Console
            appender.console.name = console
            appender.console.layout.type = PatternLayout
            appender.console.layout.pattern = %d %p %c{1} %x - %m%n
            """;

    private FlinkClusterConfig() {}

    /**
     * config.yaml. The memory keys are those that Flink's start scripts derive; without the scripts a TaskManager needs
     * every one of them.
     */
    static String yaml(int rpcPort, int restPort, int slots, Path folder) {
        return """
                jobmanager.rpc.address: 127.0.0.1
                jobmanager.rpc.port: %1$d
                jobmanager.bind-host: 127.0.0.1
                jobmanager.memory.process.size: 1g
                rest.address: 127.0.0.1
                rest.bind-address: 127.0.0.1
                rest.port: %2$d
                taskmanager.host: 127.0.0.1
                taskmanager.bind-host: 127.0.0.1
                taskmanager.numberOfTaskSlots: %3$d
                taskmanager.cpu.cores: 1
                taskmanager.memory.framework.heap.size: 128m
                taskmanager.memory.framework.off-heap.size: 64m
                taskmanager.memory.task.heap.size: 512m
                taskmanager.memory.task.off-heap.size: 256m
                taskmanager.memory.network.min: 64m
                taskmanager.memory.network.max: 64m
                taskmanager.memory.managed.size: 64m
                taskmanager.memory.jvm-metaspace.size: 192m
                taskmanager.memory.jvm-overhead.min: 64m
                taskmanager.memory.jvm-overhead.max: 64m
                heartbeat.interval: 1000
                heartbeat.timeout: 8000
                execution.checkpointing.storage: filesystem
                execution.checkpointing.dir: %4$s
                restart-strategy.type: fixed-delay
                restart-strategy.fixed-delay.attempts: 100
                restart-strategy.fixed-delay.delay: 1s
                web.checkpoints.history: 10000
                web.refresh-interval: 500
                metrics.fetcher.update-interval: 500
                web.submit.enable: true
                io.tmp.dirs: %5$s
                """.formatted(rpcPort, restPort, slots, folder.resolve("checkpoints").toUri(), folder.resolve("tmp"));
    }
}
