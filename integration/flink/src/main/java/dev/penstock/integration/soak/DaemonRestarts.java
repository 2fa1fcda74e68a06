package dev.penstock.integration.soak;

import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * {@code make daemon-restarts}: the daemon is killed and started again while one TaskManager lives and a job runs. Each
 * time the sealed epochs are committed, the open one is replayed, the TaskManager finds the new daemon by itself, and
 * nothing of the old arena stays mapped in it.
 */
public final class DaemonRestarts {
    private static final int PARALLELISM = 2;
    private static final Duration INTERVAL = Duration.ofMillis(400);
    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration UNMAP_TIMEOUT = Duration.ofSeconds(30);
    private static final long RATE = 400;
    private static final long ROWS_PER_RESTART = 20 * RATE;
    /** Between the first and the last restart, of all threads: Flink's and the JVM's pools fill up. */
    private static final long MORE_THREADS = 12;
    /** gRPC's event loops, which all channels of a process share; each new channel takes the next. */
    private static final int MOST_GRPC_THREADS = 2 * Runtime.getRuntime().availableProcessors();
    private static final long MORE_DESCRIPTORS = 8;

    private final ProcessBed bed;
    private final SoakJob job;
    private long taskManager;
    private ProcessSample first;
    private ProcessSample last;
    private Map<String, Integer> firstThreads;
    private Map<String, Integer> lastThreads;

    private DaemonRestarts(ProcessBed bed, SoakJob job) {
        this.bed = bed;
        this.job = job;
    }

    /** System property restarts.count (10). Exit code 0 only when the topic is exact and nothing is left behind. */
    public static void main(String[] args) throws IOException {
        int restarts = Integer.getInteger("restarts.count", 10);
        if (restarts < 2) {
            System.err.println("daemon-restarts: RESTARTS=" + restarts + " is not usable: at least 2, to compare");
            System.exit(2);
        }
        boolean good;
        try (ProcessBed bed = ProcessBed.start(1, PARALLELISM)) {
            good = run(bed, restarts);
        }
        System.exit(good ? 0 : 1);
    }

    /** Whether the topic is exact and nothing has grown in the TaskManager. */
    static boolean run(ProcessBed bed, int restarts) throws IOException {
        String topic = bed.topics().create("daemon-restarts", PARALLELISM);
        long rows = (restarts + 3) * ROWS_PER_RESTART;
        try (SoakJob job = new SoakJob(bed, topic, rows, RATE, INTERVAL, CHECKPOINT_TIMEOUT)) {
            DaemonRestarts run = new DaemonRestarts(bed, job);
            long failovers = run.play(restarts);
            job.finish();
            TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("auction", 0), false);
            Verdict verdict = judge.judge(judge.read(topic), rows);
            List<String> open = bed.topics().openTransactions(topic);
            return run.report(restarts, failovers, verdict, open) && verdict.rows() == rows;
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("daemon-restarts");
            throw e;
        }
    }

    /** Returns how often Flink restarted the job. */
    private long play(int restarts) throws IOException {
        job.start(PARALLELISM);
        job.flink().awaitCheckpoints(2, SoakJob.TIMEOUT);
        taskManager = bed.cluster().taskManager(job.flink().taskManagersOf("Writer").iterator().next()).pid();
        for (int i = 1; i <= restarts; i++) {
            long began = System.currentTimeMillis();
            String old = arena();
            bed.daemon().process().kill();
            bed.daemon().restart();
            job.flink().awaitCheckpointAfter(System.currentTimeMillis(), SoakJob.TIMEOUT);
            requireOnlyTheNewArena(old);
            requireNative();
            last = ProcessSample.of(taskManager);
            lastThreads = ProcessSample.threadNames(taskManager);
            first = first == null ? last : first;
            firstThreads = firstThreads == null ? lastThreads : firstThreads;
            System.out.printf("%3d  checkpoint after %5d ms, TaskManager: %s%n", i,
                    System.currentTimeMillis() - began, last);
        }
        return job.flink().restarts();
    }

    private String arena() {
        return bed.daemon().status().arenaId();
    }

    /** The keeper unmaps when the last writer of the old session is closed, which may be a moment later. */
    private void requireOnlyTheNewArena(String old) {
        String now = arena();
        if (now.equals(old)) {
            throw new IllegalStateException("two lives of the daemon have the arena " + now);
        }
        Deadline.in(UNMAP_TIMEOUT).await("only arena " + now + " to be mapped in the TaskManager",
                () -> ProcessSample.arenas(taskManager).equals(Set.of(now)));
    }

    /** A checkpoint of the stock writer would prove nothing. */
    private void requireNative() {
        if (bed.daemon().status().writers() != PARALLELISM) {
            throw new IllegalStateException("the new daemon has " + bed.daemon().status().writers() + " writers");
        }
    }

    /** How many more threads there are whose names begin with this word. */
    private int moreThreads(String word) {
        return count(lastThreads, word) - count(firstThreads, word);
    }

    private static int count(Map<String, Integer> threads, String word) {
        return threads.entrySet().stream().filter(e -> e.getKey().startsWith(word)).mapToInt(Map.Entry::getValue).sum();
    }

    private boolean report(int restarts, long failovers, Verdict verdict, List<String> open) {
        long threads = last.threads() - first.threads();
        long descriptors = last.descriptors() - first.descriptors();
        long mappings = last.mappings() - first.mappings();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("restarts", restarts);
        json.put("failovers", failovers);
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("duplicated", verdict.duplicated());
        json.put("open_transactions", open.size());
        json.put("more_threads", threads);
        json.put("more_threads_of_the_client", moreThreads("penstock"));
        json.put("more_threads_of_grpc", moreThreads("grpc"));
        json.put("more_descriptors", descriptors);
        json.put("more_mappings", mappings);
        ResultFile.write("daemon-restarts", json);
        verdict.examples().forEach(System.out::println);
        System.out.println("threads after the first restart " + firstThreads);
        System.out.println("threads after the last restart  " + lastThreads);
        System.out.println("daemon-restarts: " + json);
        return verdict.isExact() && open.isEmpty() && failovers >= restarts && moreThreads("penstock") <= 0
                && moreThreads("grpc") <= MOST_GRPC_THREADS && threads <= MORE_THREADS
                && descriptors <= MORE_DESCRIPTORS && mappings <= 0;
    }
}
