package dev.penstock.integration.soak;

import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code make stalled-broker-job}: the broker stops (SIGSTOP) under full load. Heap, arena and disk stay inside of their
 * bounds for as long as it lasts; then the job goes on and every row is there once. With timeouts above the stall nothing
 * fails, with timeouts below it the job is restarted and exact all the same.
 */
public final class StalledBroker {
    private static final int PARALLELISM = 2;
    private static final long RATE = 20_000;
    private static final long SECONDS_AROUND = 10;
    private static final String SCRIPT = """
            CREATE TEMPORARY TABLE bids (${columns}) WITH ('connector' = 'penstock-bids', 'rows' = '${rows}',
              'rate' = '${rate}');
            CREATE TEMPORARY TABLE sink (${columns}) WITH (
              'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail',
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'properties.max.block.ms' = '${block}',
              'properties.delivery.timeout.ms' = '${delivery}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            INSERT INTO sink SELECT * FROM bids;
            """;

    private final StallSettings settings;
    private final ProcessBed bed;
    private final Path folder;
    private final String topic;
    private final long rows;
    private final Duration limit;
    private final List<String> faults = new ArrayList<>();
    private final Map<String, Object> json = new LinkedHashMap<>();
    /** How long the writers waited for the daemon, as their metric says when the broker goes on. */
    private long waitedNanos;

    private StalledBroker(StallSettings settings, ProcessBed bed, Path folder) {
        this.settings = settings;
        this.bed = bed;
        this.folder = folder;
        topic = bed.topics().create("stalled", PARALLELISM);
        // With a disk the source goes on through the stall, as far as the quota lasts.
        rows = RATE * (2 * SECONDS_AROUND + (settings.spills() ? settings.seconds() : 0));
        limit = Duration.ofSeconds(settings.timeout() + settings.seconds() + 180L);
    }

    /** Properties: see StallSettings. Exit code 0 only when the bounds held, restarts are as expected and the topic is exact. */
    public static void main(String[] args) throws IOException {
        StallSettings settings = StallSettings.fromProperties();
        if (!settings.fault().isEmpty()) {
            System.err.println("stalled-broker-job: " + settings.fault());
            System.exit(2);
        }
        boolean good;
        Path folder = Workspace.temporary("stall");
        try (ProcessBed bed = ProcessBed.start(1, PARALLELISM, settings.daemon(folder))) {
            good = run(settings, bed, folder);
        } finally {
            Workspace.delete(folder);
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean run(StallSettings settings, ProcessBed bed, Path folder) throws IOException {
        try {
            return new StalledBroker(settings, bed, folder).play();
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("stalled-broker-job");
            throw e;
        }
    }

    private boolean play() throws IOException {
        FlinkJob job = submit();
        awaitRows(RATE);
        long taskManager = bed.cluster().taskManager(job.taskManagersOf("Writer").iterator().next()).pid();
        StallPeaks peaks = new StallPeaks(bed.daemon(), taskManager, folder, PARALLELISM);
        long before = bed.daemon().status().counter("rows");
        long waitedBefore = job.vertexMetric("Writer", "waitNanos");
        stall(peaks);
        long resumed = System.currentTimeMillis();
        awaitWaited(job, waitedBefore);
        job.awaitFinished(limit);
        json.put("spill", settings.spill());
        json.put("seconds", settings.seconds());
        json.put("timeout_seconds", settings.timeout());
        json.put("finished_after_resume_ms", System.currentTimeMillis() - resumed);
        json.put("writers_waited_ms", waitedNanos / 1_000_000);
        if (before == 0 || peaks.parked() == 0) {
            faults.add("the stall was not felt: " + before + " rows before it, " + peaks.parked() + " batches parked");
        }
        peaks.judge(faults);
        peaks.report(json);
        judgeRestarts(job);
        judgeDisk();
        judgeRows();
        return report();
    }

    private FlinkJob submit() {
        return SqlJob.on(bed.cluster().rest())
                .explainedBy(bed.daemon()::diagnosis)
                .set("parallelism.default", Integer.toString(PARALLELISM))
                .set("execution.checkpointing.interval", settings.intervalSeconds() + " s")
                // Flink draws the first checkpoint's moment from between this and the interval.
                .set("execution.checkpointing.min-pause", settings.intervalSeconds() + " s")
                .set("execution.checkpointing.timeout", limit.toMillis() + " ms")
                .submit(SqlJob.fill(SCRIPT, Map.of("columns", BidSource.COLUMNS, "rows", Long.toString(rows),
                        "rate", Long.toString(RATE), "topic", topic, "brokers", bed.broker().bootstrapServers(),
                        "block", Integer.toString(1_000 * Math.max(settings.timeout(), 60)),
                        "delivery", Integer.toString(settings.deliveryMillis()))));
    }

    private void awaitRows(long count) {
        Deadline.in(limit).await(count + " rows in the daemon", () -> bed.daemon().status().counter("rows") >= count,
                () -> bed.daemon().process().logTail());
    }

    private void stall(StallPeaks peaks) throws IOException {
        System.out.println("the broker stops");
        bed.broker().process().pause();
        try {
            for (int i = 0; i < settings.seconds(); i++) {
                Pause.sleep(1_000);
                peaks.sample();
            }
        } finally {
            bed.broker().process().resume();
        }
        System.out.println("the broker goes on; parked at most " + peaks.parked() + " batches");
    }

    /**
     * The metric has a wait when it is over. With a disk the writers wait only when that is full, and a restarted writer counts
     * from 0.
     */
    private void awaitWaited(FlinkJob job, long before) {
        if (!settings.spills() && !settings.restarts()) {
            Deadline.in(limit).await("a writer to have waited for the daemon", () -> {
                waitedNanos = job.vertexMetric("Writer", "waitNanos") - before;
                return waitedNanos > 0;
            });
        }
    }

    private void judgeRestarts(FlinkJob job) throws IOException {
        long restarts = job.restarts();
        json.put("restarts", restarts);
        if (restarts > 0) {
            System.out.println("the job was restarted: " + job.failures());
        }
        if (settings.restarts() != restarts > 0) {
            faults.add(restarts + " restarts: with timeouts of " + settings.timeout() + " s a stall of " + settings.seconds()
                    + " s must be " + (settings.restarts() ? "told by a failure" : "sat out"));
        }
    }

    private void judgeDisk() {
        DaemonStatus status = bed.daemon().status();
        json.put("batches_spilled", status.spill("batches_written"));
        json.put("batches_refused", status.spill("refused"));
        if (settings.spills() != status.spill("batches_written") > 0) {
            faults.add(status.spill("batches_written") + " batches went to the disk with spill.mode = " + settings.spill());
        }
        if (status.spill("used_bytes") + status.spill("batches") + status.spill("write_failures")
                + status.spill("read_failures") != 0) {
            faults.add("the disk is not empty, or failed: " + status.json().path("spill"));
        }
    }

    private void judgeRows() {
        TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("auction", 0), false);
        Verdict verdict = judge.judge(judge.read(topic), rows);
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("duplicated", verdict.duplicated());
        if (!verdict.isExact() || verdict.rows() != rows) {
            faults.add(verdict.toString());
        }
        bed.topics().openTransactions(topic).forEach(faults::add);
    }

    private boolean report() {
        json.put("faults", faults.size());
        ResultFile.write("stalled-broker-job", json);
        System.out.println("stalled-broker-job: " + json);
        faults.forEach(System.out::println);
        return faults.isEmpty();
    }
}
