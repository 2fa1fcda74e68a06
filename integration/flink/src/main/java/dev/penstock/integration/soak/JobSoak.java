package dev.penstock.integration.soak;

import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * {@code make soak-job}: a random history of one long job on a real broker, daemon and cluster, two TaskManagers, all
 * as processes. A round is one random operation and then the first checkpoint that was triggered after it and is
 * complete. After the last round the job reads what is left as fast as it can and ends, and every row must be there
 * once. Operations and their lengths come from the seed; at which row they strike does not.
 */
public final class JobSoak {
    private static final int TASK_MANAGERS = 2;
    private static final int MAX_PARALLELISM = 3;
    private static final Duration INTERVAL = Duration.ofMillis(400);
    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration ROUND_TIMEOUT = Duration.ofSeconds(180);
    private static final long RATE = 400;
    /** So many rows for each round that the job does not end before its last one: the time of 20 s. */
    private static final long ROWS_PER_ROUND = 20 * RATE;

    private final ProcessBed bed;
    private final SoakJob job;
    private final SplittableRandom random;
    private final Map<Operation, Integer> counts = new EnumMap<>(Operation.class);

    private JobSoak(ProcessBed bed, SoakJob job, long seed) {
        this.bed = bed;
        this.job = job;
        this.random = new SplittableRandom(seed);
    }

    /**
     * System properties soak.rounds (20), soak.seed (1) and soak.minutes (60), which may end the history early. Exit
     * code 0 only when nothing is lost or there twice.
     */
    public static void main(String[] args) throws IOException {
        int rounds = Integer.getInteger("soak.rounds", 20);
        long seed = Long.getLong("soak.seed", 1L);
        int minutes = Integer.getInteger("soak.minutes", 60);
        if (rounds < 1 || minutes < 1) {
            System.err.println("soak-job: ROUNDS=" + rounds + " MINUTES=" + minutes + " are not usable: at least 1");
            System.exit(2);
        }
        boolean good;
        try (ProcessBed bed = ProcessBed.start(TASK_MANAGERS, MAX_PARALLELISM)) {
            good = run(bed, rounds, Duration.ofMinutes(minutes), seed);
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean run(ProcessBed bed, int rounds, Duration limit, long seed) throws IOException {
        String topic = bed.topics().create("soak-" + seed, MAX_PARALLELISM);
        long rows = (rounds + 3) * ROWS_PER_ROUND;
        try (SoakJob job = new SoakJob(bed, topic, rows, RATE, INTERVAL, CHECKPOINT_TIMEOUT)) {
            JobSoak soak = new JobSoak(bed, job, seed);
            int played = soak.play(rounds, Deadline.in(limit));
            job.finish();
            Verdict verdict = judge(bed, topic, rows);
            List<String> open = bed.topics().openTransactions(topic);
            soak.report(played, seed, verdict, open);
            return verdict.isExact() && verdict.rows() == rows && open.isEmpty();
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("soak-job");
            System.err.println("soak-job: seed " + seed + "; logs of the cluster are in out/logs/soak-job");
            throw e;
        }
    }

    private static Verdict judge(ProcessBed bed, String topic, long rows) {
        TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("auction", 0), false);
        return judge.judge(judge.read(topic), rows);
    }

    /** Returns how many rounds there were. */
    private int play(int rounds, Deadline limit) throws IOException {
        job.start(2);
        job.flink().awaitCheckpoints(1, ROUND_TIMEOUT);
        int round = 0;
        while (round < rounds && !limit.isOver()) {
            round++;
            Operation operation = Operation.draw(random);
            long began = System.currentTimeMillis();
            Pause.sleep(random.nextInt(400));
            apply(operation);
            job.flink().awaitCheckpointAfter(System.currentTimeMillis(), ROUND_TIMEOUT);
            counts.merge(operation, 1, Integer::sum);
            System.out.printf("%4d %-20s %6d ms  %s%n", round, operation.key(), System.currentTimeMillis() - began,
                    job);
        }
        return round;
    }

    private void apply(Operation operation) throws IOException {
        // Drawn for every operation, so that the draws of later rounds do not depend on what this one is.
        int length = 300 + random.nextInt(1500);
        int tasks = 1 + random.nextInt(MAX_PARALLELISM);
        switch (operation) {
            case CHECKPOINT -> { }
            case TASKMANAGER_KILL -> killTaskManager();
            case TASKMANAGER_STOP -> stop(sinkTaskManager(), length);
            case TASKMANAGER_FREEZE -> stop(sinkTaskManager(), length + 12_000);
            case DAEMON_KILL -> {
                bed.daemon().process().kill();
                bed.daemon().restart();
            }
            case DAEMON_STOP -> stop(bed.daemon().process(), length);
            case BROKER_STOP -> stop(bed.broker().process(), length);
            case DECLINED_CHECKPOINT -> stop(bed.broker().process(), length + CHECKPOINT_TIMEOUT.toMillis());
            case BROKER_RESTART -> {
                bed.broker().process().kill();
                bed.broker().restart();
            }
            case CANCEL_AND_RESTORE -> job.cancelAndRestore();
            case STOP_WITH_SAVEPOINT -> job.restartFromSavepoint();
            case RESCALE -> job.rescale(tasks);
            case SWAP_SINK -> job.swapSink();
        }
    }

    private void killTaskManager() throws IOException {
        bed.cluster().killTaskManager(sinkTaskManagerId());
        bed.cluster().startTaskManager();
    }

    private ChildProcess sinkTaskManager() throws IOException {
        return bed.cluster().taskManager(sinkTaskManagerId());
    }

    private String sinkTaskManagerId() throws IOException {
        return job.flink().taskManagersOf("Writer").stream().findFirst()
                .orElseThrow(() -> new IllegalStateException("no running sink in job " + job.flink().id()));
    }

    private static void stop(ChildProcess process, long millis) {
        process.pause();
        try {
            Pause.sleep(millis);
        } finally {
            process.resume();
        }
    }

    private void report(int rounds, long seed, Verdict verdict, List<String> open) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("seed", seed);
        json.put("rounds", rounds);
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("duplicated", verdict.duplicated());
        json.put("open_transactions", open.size());
        Map<String, Object> operations = new LinkedHashMap<>();
        counts.forEach((operation, count) -> operations.put(operation.key(), count));
        json.put("operations", operations);
        ResultFile.write("soak-job", json);
        verdict.examples().forEach(System.out::println);
        open.forEach(System.out::println);
        System.out.printf("soak-job: %d rounds, %d rows, %d lost, %d duplicated, seed %d%n", rounds, verdict.rows(),
                verdict.lost(), verdict.duplicated(), seed);
    }
}
