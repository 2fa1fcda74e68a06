package dev.penstock.integration.distribution;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.FlinkRest;
import dev.penstock.integration.harness.JarFolder;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/**
 * {@code make web-ui-check}: Flink's own distribution runs a job of Penstock, and a headless browser looks at it in Flink's web UI
 * (integration/webui). Exit code 0 only when the page shows the operator's name and native metrics that count; the picture is
 * out/web-ui.png in any case.
 */
public final class WebUiCheck {
    private static final String OPERATOR = "penstock-kafka [native]: Writer";
    private static final String METRICS = "penstock.nativeRows,penstock.nativeBatches,penstock.nativeOffHeapReservedBytes";
    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final Duration PAGE_TIMEOUT = Duration.ofSeconds(120);
    private static final String SCRIPT = """
            SET 'execution.target' = 'remote';
            SET 'execution.checkpointing.interval' = '500 ms';
            CREATE TABLE numbers (id BIGINT, word STRING) WITH (
              'connector' = 'datagen', 'rows-per-second' = '1000'
            );
            CREATE TABLE sink (id BIGINT, word STRING) WITH (
              'connector' = 'penstock-kafka',
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            INSERT INTO sink SELECT * FROM numbers;
            """;

    private WebUiCheck() {}

    /** System property webui.chromium: the browser's program. */
    public static void main(String[] args) throws IOException {
        Distribution flink = Distribution.unpacked();
        List<Path> lib = List.of(flink.jar("flink-connector-kafka"), flink.jar("kafka-clients"), JarFolder.bundle());
        Path picture = Workspace.out().resolve("web-ui.png");
        try (BrokerProcess broker = BrokerProcess.start();
                Topics topics = new Topics(broker.bootstrapServers());
                DaemonProcess daemon = DaemonProcess.start();
                FlinkCluster cluster = FlinkCluster.start(1, 1,
                        Map.of(DaemonProcess.DIRECTORY_VARIABLE, daemon.directory().toString()), flink.classPath(lib))) {
            String script = SqlJob.fill(SCRIPT,
                    Map.of("topic", topics.create("web-ui", 1), "brokers", broker.bootstrapServers()));
            String said = new SqlClient(flink.sqlClientClassPath(lib), cluster).run(script, List.of());
            System.out.print(look(page(cluster.rest(), said), picture));
        }
        System.out.println("good  the web UI shows a native sink at work: " + picture);
    }

    /** Waits until the sink of the one job has metrics, of which the page asks for a list only once; returns their address in the web UI. */
    private static String page(FlinkRest rest, String said) {
        String[] page = new String[1];
        Deadline.in(START_TIMEOUT).await("the sink of the SQL client's job to have metrics", () -> {
            for (JsonNode job : rest.get("/jobs").path("jobs")) {
                String id = job.path("id").asText();
                for (JsonNode vertex : rest.vertices(id)) {
                    String metrics = "/vertices/" + vertex.path("id").asText() + "/metrics";
                    if (rest.get("/jobs/" + id + metrics).toString().contains(".penstock.")) {
                        page[0] = "http://" + rest.host() + ":" + rest.port() + "/#/job/running/" + id
                                + metrics.replace("/vertices/", "/overview/");
                    }
                }
            }
            return page[0] != null;
        }, () -> "\n" + said);
        return page[0];
    }

    /** Lets the browser look, and returns what it saw. */
    private static String look(String page, Path picture) {
        return ChildProcess.run(List.of(Workspace.root().resolve("build/tools/webui").toString(),
                "-chromium", System.getProperty("webui.chromium", "chromium"),
                "-timeout", PAGE_TIMEOUT.toSeconds() + "s",
                "-page", page, "-operator", OPERATOR, "-metrics", METRICS, "-picture", picture.toString()),
                PAGE_TIMEOUT.plusSeconds(60));
    }
}
