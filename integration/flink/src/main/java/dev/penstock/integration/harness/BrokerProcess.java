package dev.penstock.integration.harness;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.Uuid;

/** A real Kafka broker (KRaft, one node) as a child process, on loopback, with its data in a temporary folder. */
public final class BrokerProcess implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final int CONNECT_MILLIS = 1000;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

    private final Path folder;
    private final int port;
    private final String bootstrap;
    private final Path settings;
    private final String classPath;
    private final BrokerRelease release;
    private final Map<String, String> addresses = new LinkedHashMap<>();
    private ChildProcess process;

    private BrokerProcess(Path folder, BrokerRelease release, List<BrokerListener> listeners,
            Map<String, String> more) {
        int[] ports = FreePorts.find(2 + listeners.size());
        for (int i = 0; i < listeners.size(); i++) {
            addresses.put(listeners.get(i).name(), "127.0.0.1:" + ports[2 + i]);
        }
        this.folder = folder;
        this.port = ports[0];
        this.bootstrap = "127.0.0.1:" + port;
        this.settings = folder.resolve("server.properties");
        this.release = release;
        try {
            this.classPath = Files.readString(release.classPathFile()).strip();
            Files.writeString(settings, settings(folder.resolve("data"), ports[0], ports[1], listeners, more));
            Map.Entry<String, String> logging = release.loggingFile();
            Files.writeString(folder.resolve(logging.getKey()), logging.getValue());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a broker of the release under test. */
    public static BrokerProcess start() {
        return start(BrokerRelease.underTest());
    }

    /** Formats storage, starts, and waits until ready. */
    public static BrokerProcess start(BrokerRelease release) {
        return start(release, List.of(), Map.of());
    }

    /**
     * As above with more ways in beside the plaintext one.
     *
     * @param more server properties
     */
    public static BrokerProcess start(BrokerRelease release, List<BrokerListener> listeners,
            Map<String, String> more) {
        BrokerProcess broker = new BrokerProcess(Workspace.temporary("broker"), release, listeners, more);
        try {
            broker.format();
            broker.launch();
            return broker;
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    /** Address for {@code bootstrap.servers}. */
    public String bootstrapServers() {
        return bootstrap;
    }

    /** Address of one of the listeners that {@link #start(BrokerRelease, List, Map)} was given. */
    public String address(String listener) {
        return addresses.get(listener);
    }

    public ChildProcess process() {
        return process;
    }

    /** The end of the log, for the explanation of a failure. */
    public Diagnosis diagnosis() {
        return new Diagnosis().with("end of the log of the broker at " + bootstrap, () -> process.tail());
    }

    /** Starts again on the same data and port after {@link ChildProcess#kill} or {@link ChildProcess#stop}. */
    public void restart() {
        launch();
    }

    @Override
    public void close() {
        if (process != null && process.isAlive()) {
            process.resume();
            process.stop(STOP_TIMEOUT);
        }
        Workspace.delete(folder);
    }

    private void format() {
        List<String> command = new ArrayList<>(java("256m"));
        command.addAll(List.of("kafka.tools.StorageTool", "format", "-t", Uuid.randomUuid().toString(),
                "-c", settings.toString()));
        command.addAll(release.formatOptions());
        ChildProcess.run(command, START_TIMEOUT);
    }

    private void launch() {
        List<String> command = new ArrayList<>(java("1g"));
        command.addAll(List.of("kafka.Kafka", settings.toString()));
        ChildProcess started = ChildProcess.start("broker", command, Map.of(), folder.resolve("broker.log"));
        process = started;
        Properties admin = new Properties();
        admin.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        Deadline.in(START_TIMEOUT).await("the broker at " + bootstrap, () -> {
            started.requireAlive();
            return accepts() && answers(admin);
        }, started::logTail);
    }

    /** Cheaper and quieter than an Admin that logs each refused connection. */
    private boolean accepts() throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), CONNECT_MILLIS);
            return true;
        }
    }

    private static boolean answers(Properties properties) throws Exception {
        try (Admin admin = Admin.create(properties)) {
            // Longer than a loaded machine needs to fence the broker in; asking again costs a new connection.
            return !admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty();
        }
    }

    private List<String> java(String heap) {
        return List.of(JavaCommand.java(), "-Xmx" + heap,
                release.loggingOption(folder), "-cp", classPath);
    }

    private String settings(Path data, int port, int controllerPort, List<BrokerListener> listeners,
            Map<String, String> more) {
        StringBuilder at = new StringBuilder();
        StringBuilder protocols = new StringBuilder();
        Properties further = new Properties();
        further.putAll(more);
        for (BrokerListener listener : listeners) {
            at.append(',').append(listener.name()).append("://").append(addresses.get(listener.name()));
            protocols.append(',').append(listener.name()).append(':').append(listener.protocol());
            listener.prefixed().forEach(further::setProperty);
        }
        return """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%2$d
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d%4$s
                advertised.listeners=PLAINTEXT://127.0.0.1:%1$d%4$s
                controller.listener.names=CONTROLLER
                listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT%5$s
                log.dirs=%3$s
                offsets.topic.replication.factor=1
                offsets.topic.num.partitions=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                transaction.state.log.num.partitions=4
                transaction.max.timeout.ms=7200000
                transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
                group.initial.rebalance.delay.ms=0
                auto.create.topics.enable=false
                """.formatted(port, controllerPort, data, at, protocols) + text(further);
    }

    /** With the escapes of the format. */
    private static String text(Properties properties) {
        StringWriter text = new StringWriter();
        try {
            properties.store(text, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
