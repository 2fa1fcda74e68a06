package dev.penstock.integration.soak;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** One job as its user sees it: bids to one topic, exactly once, over all the Flink jobs that it becomes. */
final class SoakJob implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(180);
    private static final String SCRIPT = """
            CREATE TEMPORARY TABLE bids (${columns}) WITH ('connector' = 'penstock-bids', 'rows' = '${rows}',
              'rate' = '${rate}');
            CREATE TEMPORARY TABLE sink (${columns}) WITH (
              ${options},
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            INSERT INTO sink SELECT * FROM bids;
            """;

    private final ProcessBed bed;
    private final String topic;
    private final long rows;
    private final long rate;
    private final Duration interval;
    private final Duration checkpointTimeout;
    private final Path savepoints = Workspace.temporary("soak-savepoints");
    private FlinkJob job;
    private boolean penstock = true;
    private int parallelism;

    /**
     * Starts nothing yet.
     *
     * @param rows of the whole job
     * @param rate rows per second until {@link #finish}
     */
    SoakJob(ProcessBed bed, String topic, long rows, long rate, Duration interval, Duration checkpointTimeout) {
        this.bed = bed;
        this.topic = topic;
        this.rows = rows;
        this.rate = rate;
        this.interval = interval;
        this.checkpointTimeout = checkpointTimeout;
    }

    FlinkJob flink() {
        return job;
    }

    void start(int tasks) {
        parallelism = tasks;
        submit(null, rate);
    }

    /** A new job from the newest checkpoint of the cancelled one. */
    void cancelAndRestore() throws IOException {
        job.cancel(TIMEOUT);
        submit(job.checkpointPath(), rate);
    }

    void restartFromSavepoint() throws IOException {
        submit(job.stopWithSavepoint(savepoints, TIMEOUT), rate);
    }

    void rescale(int tasks) throws IOException {
        parallelism = tasks;
        restartFromSavepoint();
    }

    void swapSink() throws IOException {
        penstock = !penstock;
        restartFromSavepoint();
    }

    /** The final phase: all rows that are left, as fast as they go. */
    void finish() throws IOException {
        submit(job.stopWithSavepoint(savepoints, TIMEOUT), 0);
        job.awaitFinished(TIMEOUT);
    }

    @Override
    public String toString() {
        return (penstock ? "Penstock" : "stock") + " with parallelism " + parallelism;
    }

    @Override
    public void close() {
        Workspace.delete(savepoints);
    }

    private void submit(String state, long rowsPerSecond) {
        SqlJob sql = SqlJob.on(bed.cluster().rest())
                .explainedBy(bed.daemon()::diagnosis)
                .set("parallelism.default", Integer.toString(parallelism))
                .set("execution.checkpointing.interval", interval.toMillis() + " ms")
                .set("execution.checkpointing.timeout", checkpointTimeout.toMillis() + " ms")
                .set("execution.checkpointing.tolerable-failed-checkpoints", "1000000")
                .set("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION")
                .set("restart-strategy.type", "fixed-delay")
                .set("restart-strategy.fixed-delay.attempts", "1000000")
                .set("restart-strategy.fixed-delay.delay", "200 ms");
        if (state != null) {
            sql.set("execution.state-recovery.path", state);
        }
        // A fallback would prove nothing about Penstock.
        String options = penstock
                ? "'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail'" : "'connector' = 'kafka'";
        job = sql.submit(SqlJob.fill(SCRIPT, Map.of("columns", BidSource.COLUMNS, "rows", Long.toString(rows),
                "rate", Long.toString(rowsPerSecond), "options", options, "topic", topic,
                "brokers", bed.broker().bootstrapServers())));
    }
}
