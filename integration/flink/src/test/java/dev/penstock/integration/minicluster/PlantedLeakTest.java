package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.nexmark.BidSource;
import dev.penstock.integration.soak.ResourceSeries;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The judge of {@code make leak-check} on two short runs of one job: it finds nothing, until the daemon is told to keep a
 * thread and a descriptor for each epoch.
 */
@Timeout(300)
class PlantedLeakTest {
    private static final long RATE = 2_000;
    private static final int CHECKPOINT_MILLIS = 100;
    /** Of both writers together: two leaks for each checkpoint, which is many times the allowance. */
    private static final int CHECKPOINTS = 40;
    private static final Duration BOUND = Duration.ofSeconds(90);

    @Test
    void theJudgeFindsALeak() throws Exception {
        try (Bed bed = Bed.open(2); DaemonProcess daemon = DaemonProcess.startWithFaults()) {
            String topic = Bed.topics().create("leaking", 2);
            FlinkJob job = bed.job(2, CHECKPOINT_MILLIS).explainedBy(daemon::diagnosis).submit(Tables.bids(
                    RATE * BOUND.toSeconds(), RATE) + Tables.sink(BidSource.COLUMNS,
                            Sink.PENSTOCK.optionsWithFallback(daemon.directory()), topic, "exactly-once", "")
                    + Tables.copyBids());
            job.awaitCheckpoints(CHECKPOINTS, BOUND); // what is taken once is taken
            ResourceSeries sound = sampled(job, daemon);
            assertEquals(List.of(), counted(sound), sound::toString);
            daemon.faults("after-flush leak times=1000000");
            ResourceSeries leaking = sampled(job, daemon);
            assertEquals(List.of("daemon_threads", "daemon_descriptors"), counted(leaking), leaking::toString);
            assertEquals(0, job.restarts(), job::failures);
            job.cancel(BOUND);
        }
    }

    /** What grows, without memory: a daemon is not warm after so few checkpoints, so that a line through it says nothing. */
    private static List<String> counted(ResourceSeries series) {
        return series.growing().stream().filter(key -> !key.endsWith("_rss_kb")).toList();
    }

    /** The daemon over so many checkpoints. */
    private static ResourceSeries sampled(FlinkJob job, DaemonProcess daemon) throws IOException {
        ResourceSeries series = new ResourceSeries("checkpoints");
        long before = job.completedCheckpoints();
        job.awaitProgress(CHECKPOINTS + " more checkpoints", () -> {
            long done = job.completedCheckpoints();
            series.add("daemon", done, ProcessSample.of(daemon.process().pid()));
            return done >= before + CHECKPOINTS;
        }, BOUND);
        return series;
    }
}
