package dev.penstock.integration.bench;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.LocalCluster;
import dev.penstock.integration.harness.ProcStat;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * One leg of a benchmark (see {@link LegRunner}) in a JVM of its own, so that the CPU of the process is the CPU of the
 * job: a MiniCluster that first warms up with a part of the rows, then runs the measured job, and prints one line for
 * its parent.
 */
public final class BenchLeg {
    private static final Duration JOB_TIMEOUT = Duration.ofSeconds(300);
    private static final long WARM_UP_SHARE = 4;
    private static final String SCRIPT = """
            CREATE TEMPORARY TABLE bids (${columns}) WITH ('connector' = 'penstock-bids',
              'rows' = '${rows}', 'rate' = '${rate}');
            CREATE TEMPORARY TABLE sink (${columns}) WITH (
              ${options},
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}-${run}'
            );
            INSERT INTO sink SELECT * FROM bids;
            """;

    private final LegSettings settings;
    private final LocalCluster cluster;

    private BenchLeg(LegSettings settings, LocalCluster cluster) {
        this.settings = settings;
        this.cluster = cluster;
    }

    /** Arguments as {@link LegSettings#arguments} writes them. */
    public static void main(String[] args) throws IOException {
        endWithParent();
        LegSettings settings = LegSettings.parse(args);
        try (LocalCluster cluster = LocalCluster.start(1, settings.parallelism())) {
            System.out.println(new BenchLeg(settings, cluster).measure().line());
        }
        System.exit(0);
    }

    /** The parent holds our standard input open for as long as it lives. */
    private static void endWithParent() {
        Thread watcher = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
                }
            } catch (IOException e) {
                // As good as the end of input.
            }
            Runtime.getRuntime().halt(1);
        }, "parent-watch");
        watcher.setDaemon(true);
        watcher.start();
    }

    private LegResult measure() throws IOException {
        run(settings.rows() / WARM_UP_SHARE, "warm-up");
        double[] before = cpu();
        FlinkJob job = run(settings.rows(), "measured");
        double[] after = cpu();
        double micros = 1e6 / settings.rows();
        return new LegResult(settings.rows() * 1000.0 / job.durationMillis(), (after[0] - before[0]) * micros,
                (after[1] - before[1]) * micros, (after[2] - before[2]) * micros,
                CheckpointSummary.of(job.checkpointTimes()));
    }

    private FlinkJob run(long rows, String run) {
        String script = SqlJob.fill(SCRIPT, Map.of("columns", BidSource.COLUMNS, "rows", Long.toString(rows),
                "rate", Long.toString(settings.rate()), "options", settings.sinkOptions(),
                "topic", settings.topic(), "brokers", settings.brokers(),
                "run", run));
        FlinkJob job = SqlJob.on(cluster.rest())
                .set("parallelism.default", Integer.toString(settings.parallelism()))
                .set("execution.checkpointing.interval", settings.checkpointMillis() + " ms")
                .set("pipeline.object-reuse", "true")
                .submit(script);
        job.awaitFinished(JOB_TIMEOUT);
        return job;
    }

    /** CPU seconds of this JVM, the daemon and the broker. */
    private double[] cpu() {
        return new double[] {
            ProcStat.cpuSeconds(ProcessHandle.current().pid()).orElseThrow(),
            ProcStat.cpuSeconds(settings.daemonPid()).orElseThrow(),
            ProcStat.cpuSeconds(settings.brokerPid()).orElseThrow()
        };
    }
}
