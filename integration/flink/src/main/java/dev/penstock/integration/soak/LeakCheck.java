package dev.penstock.integration.soak;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.ResultFile;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code make leak-check}: one job with very many checkpoints, and a line through what daemon and TaskManager hold.
 * Every checkpoint makes and destroys a producer with its threads, sockets and queues.
 */
public final class LeakCheck {
    private static final Duration INTERVAL = Duration.ofMillis(200);
    private static final Duration CHECKPOINT_TIMEOUT = Duration.ofSeconds(60);
    private static final long RATE = 2_000;
    private static final long SAMPLE_MILLIS = 1_000;
    /** Longest time for one checkpoint on average, before the run is given up. */
    private static final long MILLIS_PER_CHECKPOINT = 3_000;

    private final ProcessBed bed;
    private final ResourceSeries series = new ResourceSeries("checkpoints");
    private long checkpoints;

    private LeakCheck(ProcessBed bed) {
        this.bed = bed;
    }

    /** System property leak.checkpoints (2000). Exit code 0 only when nothing grows. */
    public static void main(String[] args) throws IOException {
        int checkpoints = Integer.getInteger("leak.checkpoints", 2000);
        if (checkpoints < 50) {
            System.err.println("leak-check: CHECKPOINTS=" + checkpoints
                    + " is not usable: at least 50, for a line through the second half");
            System.exit(2);
        }
        boolean good;
        try (ProcessBed bed = ProcessBed.start(1, 2)) {
            good = new LeakCheck(bed).run(checkpoints);
        }
        System.exit(good ? 0 : 1);
    }

    private boolean run(int checkpoints) throws IOException {
        String topic = bed.topics().create("leak", 2);
        long limit = checkpoints * MILLIS_PER_CHECKPOINT;
        try (SoakJob job = new SoakJob(bed, topic, limit * RATE / 1000, RATE, INTERVAL, CHECKPOINT_TIMEOUT)) {
            job.start(2);
            job.flink().awaitCheckpoints(1, SoakJob.TIMEOUT);
            String taskManager = job.flink().taskManagersOf("Writer").iterator().next();
            long pid = bed.cluster().taskManager(taskManager).pid();
            long end = System.currentTimeMillis() + limit;
            for (long done = 0; done < checkpoints; Pause.sleep(SAMPLE_MILLIS)) {
                done = sample(job.flink(), pid);
                if (System.currentTimeMillis() > end) {
                    throw new IllegalStateException(
                            "only " + done + " of " + checkpoints + " checkpoints in " + limit + " ms");
                }
            }
            requireUndisturbed(job.flink());
            job.flink().cancel(SoakJob.TIMEOUT);
        }
        return report();
    }

    private long sample(FlinkJob job, long taskManager) throws IOException {
        checkpoints = job.completedCheckpoints();
        series.add("daemon", checkpoints, ProcessSample.of(bed.daemon().process().pid()));
        series.add("taskmanager", checkpoints, ProcessSample.of(taskManager));
        return checkpoints;
    }

    /** A job that was restarted would have hidden what it left behind, or be the reason of it. */
    private static void requireUndisturbed(FlinkJob job) throws IOException {
        if (job.restarts() != 0) {
            throw new IllegalStateException("the job was restarted " + job.restarts() + " times: " + job.failures());
        }
    }

    private boolean report() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("checkpoints", checkpoints);
        json.put("samples", series.samples());
        List<String> leaks = series.report(json);
        ResultFile.write("leak-check", json);
        System.out.println("leak-check: " + checkpoints + " checkpoints, "
                + (leaks.isEmpty() ? "nothing grows" : "growing: " + String.join(", ", leaks)));
        return leaks.isEmpty();
    }
}
