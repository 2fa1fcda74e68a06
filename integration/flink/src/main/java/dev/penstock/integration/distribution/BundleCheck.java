package dev.penstock.integration.distribution;

import dev.penstock.integration.distribution.Layout.Writes;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.SecuredBroker;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code make bundle-check}: Flink's own distribution as processes, and a small job by its SQL client in each {@link Layout}, against a
 * real broker and penstockd; and the commands of docs/upgrade.md by Flink's own script ({@link GuidedStop}). Exit code 0 only when every
 * row is there once, and the one who should have written them has.
 */
public final class BundleCheck {
    private static final int ROWS = 2000;
    private static final Duration LEFT_TIMEOUT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            SET 'execution.target' = 'remote';
            SET 'sql-client.execution.result-mode' = 'tableau';
            SET 'execution.checkpointing.interval' = '500 ms';
            SET 'table.dml-sync' = 'true';
            ${jars}
            CREATE TABLE numbers (id BIGINT, word STRING) WITH (
              'connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '${last}'
            );
            CREATE TABLE sink (${columns}) WITH (
              'connector' = 'penstock-kafka', 'penstock.fallback' = '${fallback}',
              'topic' = '${topic}',
              ${options},
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            EXPLAIN JSON_EXECUTION_PLAN INSERT INTO sink SELECT * FROM numbers;
            INSERT INTO sink SELECT * FROM numbers;
            """;

    private final Distribution flink;
    private final SecuredBroker broker;
    private final DaemonProcess daemon;
    private final Map<String, Object> results = new LinkedHashMap<>();

    private BundleCheck(Distribution flink, SecuredBroker broker, DaemonProcess daemon) {
        this.flink = flink;
        this.broker = broker;
        this.daemon = daemon;
    }

    /** System property bundle.layout: runs only the layouts whose name contains it. */
    public static void main(String[] args) throws IOException {
        Distribution flink = Distribution.unpacked();
        String chosen = System.getProperty("bundle.layout", "");
        List<Layout> layouts = Layout.all(flink).stream().filter(layout -> layout.name().contains(chosen)).toList();
        boolean stops = GuidedStop.NAME.contains(chosen);
        if (layouts.isEmpty() && !stops) {
            System.err.println("bundle-check: LAYOUT=" + chosen + " is part of no layout's name; there are "
                    + Layout.all(flink).stream().map(Layout::name).toList() + " and " + GuidedStop.NAME);
            System.exit(2);
        }
        boolean good;
        try (SecuredBroker broker = SecuredBroker.start();
                DaemonProcess daemon = DaemonProcess.start()) {
            BundleCheck check = new BundleCheck(flink, broker, daemon);
            good = check.run(layouts);
            if (stops) {
                good &= new GuidedStop(flink, broker, daemon).run(check.results);
                daemon.awaitNothingLeft(LEFT_TIMEOUT);
            }
            ResultFile.write("bundle-check", check.results);
        }
        System.exit(good ? 0 : 1);
    }

    private boolean run(List<Layout> layouts) throws IOException {
        boolean good = true;
        List<Path> lib = null;
        FlinkCluster cluster = null;
        try {
            for (Layout layout : layouts) {
                if (!layout.lib().equals(lib)) {
                    if (cluster != null) {
                        cluster.close();
                        cluster = null;
                    }
                    lib = layout.lib();
                    cluster = FlinkCluster.start(1, 1,
                            Map.of(DaemonProcess.DIRECTORY_VARIABLE, daemon.directory().toString()), flink.classPath(lib));
                }
                good &= runOne(layout, cluster);
            }
        } finally {
            if (cluster != null) {
                cluster.close();
            }
        }
        return good;
    }

    private boolean runOne(Layout layout, FlinkCluster cluster) throws IOException {
        String topic = broker.topics().create("bundle", 1);
        boolean ours = layout.writes() == Writes.PENSTOCK;
        String script = SqlJob.fill(SCRIPT, Map.of("jars", layout.statements(), "topic", topic,
                "columns", layout.work().columns(), "options", layout.work().options(broker, layout.shadesKafka()),
                "last", Long.toString(ROWS - 1), "fallback", ours ? "fail" : "stock"));
        long before = daemon.status().counter("rows");
        String said = new SqlClient(flink.sqlClientClassPath(layout.lib()), cluster).run(script, layout.options());
        TopicJudge judge = new TopicJudge(broker.bootstrapServers(), layout.work().rowId(), false);
        Verdict verdict = judge.judge(judge.read(topic), ROWS);
        long rows = daemon.status().counter("rows") - before;
        boolean named = said.contains("[fallback: the class org.apache.kafka.");
        boolean good = verdict.isExact() && rows == (ours ? ROWS : 0) && named != ours;
        System.out.println((good ? "good  " : "BAD   ") + layout.name() + ": " + verdict + ", " + rows
                + " rows by penstockd" + (named ? ", with a reason" : ""));
        results.put(layout.name(), Map.of("good", good, "rows", verdict.rows(), "rowsByPenstockd", rows));
        if (!good) {
            System.out.println(said);
            cluster.keepLogs("bundle-check");
        }
        daemon.awaitNothingLeft(LEFT_TIMEOUT);
        return good;
    }
}
