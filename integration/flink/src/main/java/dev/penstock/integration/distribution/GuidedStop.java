package dev.penstock.integration.distribution;

import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.FlinkRest;
import dev.penstock.integration.harness.JarFolder;
import dev.penstock.integration.harness.SecuredBroker;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job is stopped by the command of docs/upgrade.md, which Flink's own script runs, and starts from that savepoint by the statement
 * that stands there. Everything else about savepoints is in SavepointTest.
 */
final class GuidedStop {
    static final String NAME = "flink-connector-kafka and Penstock in lib/, stopped and started as docs/upgrade.md says";

    private static final Path GUIDE = Workspace.root().resolve("docs/upgrade.md");
    private static final Pattern STOP = Pattern.compile("`(flink stop [^`]*)`");
    private static final Pattern START = Pattern.compile("`(SET 'execution[^`]* = '\\.\\.\\.')`");
    private static final Pattern COMPLETED = Pattern.compile("Savepoint completed\\. Path: file:(\\S+)");
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int ROWS = 20_000;
    /** The first job would take minutes, so that it cannot end by itself before it is stopped. */
    private static final Map<Boolean, String> RATE = Map.of(true, "100", false, "100000");
    private static final String SCRIPT = """
            SET 'execution.target' = 'remote';
            SET 'execution.checkpointing.interval' = '500 ms';
            ${settings}
            CREATE TABLE numbers (id BIGINT, word STRING) WITH (
              'connector' = 'datagen', 'rows-per-second' = '${rate}',
              'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '${last}'
            );
            CREATE TABLE sink (id BIGINT, word STRING) WITH (
              'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail',
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            INSERT INTO sink SELECT * FROM numbers;
            """;

    private final Distribution flink;
    private final SecuredBroker broker;
    private final DaemonProcess daemon;
    private final String topic;
    private final TopicJudge judge;

    GuidedStop(Distribution flink, SecuredBroker broker, DaemonProcess daemon) {
        this.flink = flink;
        this.broker = broker;
        this.daemon = daemon;
        topic = broker.topics().create("guided-stop", 1);
        judge = new TopicJudge(broker.bootstrapServers(), RowId.jsonField("id", 0), false);
    }

    /** Whether the job was stopped half way and both halves together are exact; prints a line as each layout has one. */
    boolean run(Map<String, Object> results) throws IOException {
        List<Path> lib = List.of(flink.jar("flink-connector-kafka"), flink.jar("kafka-clients"), JarFolder.bundle());
        long before = daemon.status().counter("rows");
        Path savepoints = Workspace.temporary("savepoints");
        try (FlinkCluster cluster = FlinkCluster.start(1, 1,
                Map.of(DaemonProcess.DIRECTORY_VARIABLE, daemon.directory().toString()), flink.classPath(lib))) {
            SqlClient client = new SqlClient(flink.sqlClientClassPath(lib), cluster);
            client.run(script(true, ""), List.of());
            Path savepoint = stop(cluster, savepoints);
            long half = judge.read(topic).records();
            String said = client.run(script(false, "SET 'table.dml-sync' = 'true';\n"
                    + guided(START).replace("...", savepoint.toUri().toString()) + ";"), List.of());
            Verdict verdict = judge.judge(judge.read(topic), ROWS);
            long rows = daemon.status().counter("rows") - before;
            boolean good = half > 0 && half < ROWS && verdict.isExact() && rows == ROWS;
            System.out.println((good ? "good  " : "BAD   ") + NAME + ": " + half + " rows, then " + verdict + ", " + rows + " rows by penstockd");
            results.put(NAME, Map.of("good", good, "rows", verdict.rows(), "rowsByPenstockd", rows));
            if (!good) {
                System.out.println(said);
                cluster.keepLogs("bundle-check");
            }
            return good;
        } finally {
            Workspace.delete(savepoints);
        }
    }

    private String script(boolean first, String settings) {
        return SqlJob.fill(SCRIPT, Map.of("settings", settings, "rate", RATE.get(first), "last", Integer.toString(ROWS - 1), "topic", topic,
                "brokers", broker.bootstrapServers()));
    }

    /** Runs the guide's command once the job has something to keep; returns the savepoint that Flink names. */
    private Path stop(FlinkCluster cluster, Path savepoints) throws IOException {
        FlinkRest rest = cluster.rest();
        String job = rest.get("/jobs").path("jobs").path(0).path("id").asText();
        Deadline.in(TIMEOUT).await("a checkpoint with rows of job " + job, () ->
                rest.get("/jobs/" + job + "/checkpoints").path("counts").path("completed").asInt() > 0 && judge.read(topic).records() > 0);
        String command = guided(STOP).replace("DIR", savepoints.toString()).replace("JOB", job);
        String said = ChildProcess.run(List.of("env", "FLINK_CONF_DIR=" + cluster.configuration(), "FLINK_LOG_DIR=" + savepoints,
                "JAVA_HOME=" + System.getProperty("java.home"), "PATH=" + flink.bin() + ":" + System.getenv("PATH"), "sh", "-c", command), TIMEOUT);
        Matcher completed = COMPLETED.matcher(said);
        if (!completed.find()) {
            throw new IllegalStateException(command + " names no savepoint: " + said);
        }
        Path savepoint = Path.of(completed.group(1));
        String state = rest.get("/jobs/" + job).path("state").asText();
        if (!savepoint.startsWith(savepoints) || !Files.exists(savepoint.resolve("_metadata")) || !state.equals("FINISHED")) {
            throw new IllegalStateException(command + " left the job " + state + " and the savepoint " + savepoint);
        }
        return savepoint;
    }

    private static String guided(Pattern pattern) throws IOException {
        Matcher words = pattern.matcher(Files.readString(GUIDE));
        if (!words.find()) {
            throw new IllegalStateException(GUIDE + " has nothing like " + pattern);
        }
        return words.group(1);
    }
}
