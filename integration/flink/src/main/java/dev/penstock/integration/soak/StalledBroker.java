package dev.penstock.integration.soak;

import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code make stalled-broker-job}: the broker stops (SIGSTOP) under full load. The source is held back, and heap, arena
 * and disk stay inside of their bounds for as long as it lasts; then the job goes on and every row is there once.
 */
public final class StalledBroker {
    private static final int PARALLELISM = 2;
    private static final long RATE = 20_000;
    private static final long SECONDS_AROUND = 10;
    private static final Duration LIMIT = Duration.ofSeconds(240);
    private static final long MIB = 1 << 20;
    /** What FlinkClusterConfig gives the TaskManager: task off-heap, and the heap of its JVM. */
    private static final long BUDGET_BYTES = 256 * MIB;
    private static final long TASK_MANAGER_HEAP_BYTES = 768 * MIB;
    /** Beside its heap a JVM has stacks, metaspace, code and direct buffers. */
    private static final long TASK_MANAGER_REST_BYTES = 512 * MIB;
    /** process.go_memory_limit, and what librdkafka and encoders of the writers may hold beside it. */
    private static final long DAEMON_HEAP_BYTES = 256 * MIB + PARALLELISM * 32 * MIB;
    private static final String SCRIPT = """
            CREATE TEMPORARY TABLE bids (${columns}) WITH ('connector' = 'penstock-bids', 'rows' = '${rows}',
              'rate' = '${rate}');
            CREATE TEMPORARY TABLE sink (${columns}) WITH (
              'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail',
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'properties.max.block.ms' = '${block}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}'
            );
            INSERT INTO sink SELECT * FROM bids;
            """;

    private final ProcessBed bed;
    private final String topic;
    private final long rows;
    private final List<String> faults = new ArrayList<>();
    private long mostLeased;
    private long mostKernel;
    private long mostDaemonAnonymous;
    private long mostTaskManagerAnonymous;
    private long mostParked;
    /** Of one attempt: a failover begins to count anew. */
    private long mostWaitedNanos;

    private StalledBroker(ProcessBed bed, String topic, long rows) {
        this.bed = bed;
        this.topic = topic;
        this.rows = rows;
    }

    /** System property stall.seconds (60). Exit code 0 only when the bounds held and the topic is exact. */
    public static void main(String[] args) throws IOException {
        int seconds = Integer.getInteger("stall.seconds", 60);
        if (seconds < 5) {
            System.err.println("stalled-broker-job: SECONDS=" + seconds
                    + " is not usable: at least 5, to fill the credit");
            System.exit(2);
        }
        boolean good;
        try (ProcessBed bed = ProcessBed.start(1, PARALLELISM)) {
            good = run(bed, seconds);
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean run(ProcessBed bed, int seconds) throws IOException {
        StalledBroker run =
                new StalledBroker(bed, bed.topics().create("stalled", PARALLELISM), 2 * SECONDS_AROUND * RATE);
        try {
            return run.play(seconds);
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("stalled-broker-job");
            throw e;
        }
    }

    private boolean play(int seconds) throws IOException {
        FlinkJob job = submit(seconds);
        job.awaitCheckpoints(2, LIMIT);
        long taskManager = bed.cluster().taskManager(job.taskManagersOf("Writer").iterator().next()).pid();
        long rowsBefore = bed.daemon().status().counter("rows");
        long waitedBefore = job.vertexMetric("Writer", "waitNanos");
        System.out.println("the broker stops after " + rowsBefore + " rows");
        bed.broker().process().pause();
        try {
            for (int i = 0; i < seconds; i++) {
                Pause.sleep(1_000);
                sample(taskManager);
                mostWaitedNanos = Math.max(mostWaitedNanos, job.vertexMetric("Writer", "waitNanos") - waitedBefore);
            }
        } finally {
            bed.broker().process().resume();
        }
        System.out.println("the broker goes on; parked at most " + mostParked + " batches");
        long resumed = System.currentTimeMillis();
        job.awaitCheckpointAfter(resumed, LIMIT);
        long checkpointMillis = System.currentTimeMillis() - resumed;
        job.awaitFinished(LIMIT);
        if (rowsBefore == 0 || mostParked == 0 || mostWaitedNanos <= 0) {
            faults.add("the stall was not felt: " + rowsBefore + " rows before it, " + mostParked
                    + " batches parked, the writers waited " + mostWaitedNanos + " ns");
        }
        if (job.restarts() > 0) {
            System.out.println("the job was restarted: " + job.failures());
        }
        return report(seconds, job.restarts(), checkpointMillis);
    }

    private FlinkJob submit(int stallSeconds) {
        return SqlJob.on(bed.cluster().rest())
                .explainedBy(bed.daemon()::diagnosis)
                .set("parallelism.default", Integer.toString(PARALLELISM))
                .set("execution.checkpointing.interval", "1 s")
                .set("execution.checkpointing.timeout", LIMIT.toMillis() + " ms")
                .submit(SqlJob.fill(SCRIPT, Map.of("columns", BidSource.COLUMNS, "rows", Long.toString(rows),
                        "rate", Long.toString(RATE), "topic", topic, "brokers", bed.broker().bootstrapServers(),
                        "block", Long.toString(2_000L * stallSeconds + 60_000))));
    }

    private void sample(long taskManager) throws IOException {
        DaemonStatus status = bed.daemon().status();
        mostLeased = Math.max(mostLeased, status.memory("leased_bytes"));
        mostKernel = Math.max(mostKernel, status.memory("kernel_bytes"));
        mostParked = Math.max(mostParked, status.slots("slots_parked"));
        mostDaemonAnonymous = Math.max(mostDaemonAnonymous,
                1024 * ProcessSample.of(bed.daemon().process().pid()).anonymousKilobytes());
        mostTaskManagerAnonymous =
                Math.max(mostTaskManagerAnonymous, 1024 * ProcessSample.of(taskManager).anonymousKilobytes());
        if (status.memory("kernel_bytes") > status.memory("capacity_bytes")) {
            faults.add("the arena has " + mostKernel + " bytes, above its capacity");
        }
    }

    private void requireBelow(String what, long bytes, long bound) {
        if (bytes > bound) {
            faults.add(what + " rose to " + bytes + " bytes, its bound is " + bound);
        }
    }

    private boolean report(int seconds, long restarts, long checkpointMillis) {
        TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("auction", 0), false);
        Verdict verdict = judge.judge(judge.read(topic), rows);
        if (!verdict.isExact() || verdict.rows() != rows) {
            faults.add(verdict.toString());
        }
        bed.topics().openTransactions(topic).forEach(faults::add);
        requireBelow("leased memory", mostLeased, BUDGET_BYTES);
        requireBelow("the daemon's heap", mostDaemonAnonymous, DAEMON_HEAP_BYTES);
        requireBelow("the TaskManager's memory", mostTaskManagerAnonymous,
                TASK_MANAGER_HEAP_BYTES + TASK_MANAGER_REST_BYTES);
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("seconds", seconds);
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("duplicated", verdict.duplicated());
        json.put("restarts", restarts);
        json.put("checkpoint_after_resume_ms", checkpointMillis);
        json.put("writers_waited_ms", mostWaitedNanos / 1_000_000);
        json.put("most_parked_batches", mostParked);
        json.put("most_leased_bytes", mostLeased);
        json.put("most_arena_bytes", mostKernel);
        json.put("most_daemon_anonymous_bytes", mostDaemonAnonymous);
        json.put("most_taskmanager_anonymous_bytes", mostTaskManagerAnonymous);
        json.put("faults", faults.size());
        ResultFile.write("stalled-broker-job", json);
        System.out.println("stalled-broker-job: " + json);
        faults.forEach(System.out::println);
        return faults.isEmpty();
    }
}
