package dev.penstock.integration.demo;

import dev.penstock.integration.harness.DaemonStatus;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;

/** One execution of the SQL script on the demo's cluster. */
final class DemoRun {
    private static final Duration JOB_TIMEOUT = Duration.ofSeconds(180);
    /** So many checkpoints before the kill: something is committed, something is pending, something is open. */
    private static final int CHECKPOINTS_BEFORE_KILL = 3;
    /** The run with the kill is slowed down to about this length, so that there is a middle. */
    private static final long KILL_RUN_SECONDS = 14;
    private static final long WARM_UP_SHARE = 4;
    /** The job's parallelism: it fits into one TaskManager, and the other can take over. */
    private static final int SLOTS = 2;

    private final ProcessBed bed;
    private final DemoSettings settings;
    private final String connector;

    DemoRun(ProcessBed bed, DemoSettings settings, String connector) {
        this.bed = bed;
        this.settings = settings;
        this.connector = connector;
    }

    /** The parts of the demo. */
    static ProcessBed startBed() {
        return ProcessBed.start(2, SLOTS);
    }

    /**
     * What one run did.
     *
     * @param topic where it wrote
     * @param fromMillis when it began; with toMillis the limits of its records' timestamps
     * @param nativeBatches batches that went through the daemon
     * @param fallbacks sink vertices that say they fell back, plus one when fewer rows than written went through the
     *     daemon (a fallback at run time shows in no name)
     */
    record Result(String topic, long fromMillis, long toMillis, double rowsPerSecond, double jobCpuMicrosPerRow,
            double daemonCpuMicrosPerRow, double brokerCpuMicrosPerRow, long nativeBatches, long fallbacks) {}

    /**
     * Runs undisturbed and as fast as possible. The TaskManagers are new, and warmed up by a quarter of the rows
     * through the same sink, so that neither connector profits from what the other has compiled.
     */
    Result measured() throws IOException {
        bed.cluster().replaceTaskManagers();
        run(settings.rows() / WARM_UP_SHARE, 0, job -> { });
        return run(settings.rows(), 0, job -> { });
    }

    /** Runs at a limited rate and kills the TaskManager that runs the sink in the middle. */
    Result withKill() throws IOException {
        return run(settings.rows(), Math.max(1, settings.rows() / KILL_RUN_SECONDS), this::killSinkTaskManager);
    }

    private interface Disturbance {
        void apply(FlinkJob job) throws IOException;
    }

    private Result run(long rows, long rate, Disturbance disturbance) throws IOException {
        String topic = bed.topics().create("demo-" + connector, SLOTS);
        String script = SqlJob.fill(script(), Map.of("columns", settings.columns(), "data", settings.data().toString(),
                "rows", Long.toString(rows), "rate", Long.toString(rate), "connector", connector, "topic", topic,
                "brokers", bed.broker().bootstrapServers()));
        DaemonStatus statusBefore = bed.daemon().status();
        Cpu before = Cpu.now(bed);
        long from = System.currentTimeMillis();
        FlinkJob job = SqlJob.on(bed.cluster().rest())
                .set("parallelism.default", Integer.toString(SLOTS))
                .set("execution.checkpointing.interval", "1 s")
                .submit(script);
        disturbance.apply(job);
        job.awaitFinished(JOB_TIMEOUT);
        Cpu cpu = Cpu.now(bed).minus(before);
        DaemonStatus status = bed.daemon().status();
        long nativeRows = status.counter("rows") - statusBefore.counter("rows");
        long fallbacks = job.vertexNames().stream().filter(name -> name.contains("fallback")).count()
                + (nativeRows < rows ? 1 : 0);
        return new Result(topic, from, System.currentTimeMillis(), rows * 1000.0 / job.durationMillis(),
                cpu.job() * 1e6 / rows, cpu.daemon() * 1e6 / rows, cpu.broker() * 1e6 / rows,
                status.counter("batches") - statusBefore.counter("batches"), fallbacks);
    }

    private void killSinkTaskManager(FlinkJob job) throws IOException {
        FlinkCluster cluster = bed.cluster();
        job.awaitCheckpoints(CHECKPOINTS_BEFORE_KILL, JOB_TIMEOUT);
        String id = job.taskManagersOf("Writer").stream().findFirst()
                .orElseThrow(() -> new IllegalStateException("no running sink in job " + job.id()));
        cluster.killTaskManager(id);
        String state = job.state();
        if (state.equals("FINISHED")) {
            throw new IllegalStateException("the job had ended before its TaskManager was killed: give more ROWS");
        }
        System.out.println("  killed TaskManager " + id + " with SIGKILL");
    }

    private static String script() {
        try {
            return Files.readString(Workspace.root().resolve("integration/demo/flights.sql"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** CPU seconds so far of the job's JVMs (JobManager and TaskManagers), the daemon and the broker. */
    private record Cpu(double job, double daemon, double broker) {
        static Cpu now(ProcessBed bed) {
            return new Cpu(bed.cluster().cpuSeconds(), bed.daemon().process().cpuSeconds(),
                    bed.broker().process().cpuSeconds());
        }

        Cpu minus(Cpu other) {
            return new Cpu(job - other.job, daemon - other.daemon, broker - other.broker);
        }
    }
}
