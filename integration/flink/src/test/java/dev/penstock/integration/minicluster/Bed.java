package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Diagnosis;
import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.JvmLeftovers;
import dev.penstock.integration.harness.LocalCluster;
import dev.penstock.integration.harness.SharedBroker;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.harness.Topics;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.session.DaemonSession;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tests of one class share: the JVM's one broker, a MiniCluster, and a daemon that is started when the first
 * test asks for it.
 */
final class Bed implements AutoCloseable {
    static final Duration JOB_TIMEOUT = Duration.ofSeconds(240);
    private static final Duration LEFT_TIMEOUT = Duration.ofSeconds(60);
    /** DaemonSession.leakedSegments as the last test left it, so that a leak is told once, by the test that has it. */
    private static final AtomicLong LEAKED = new AtomicLong();

    private final LocalCluster cluster;
    private DaemonProcess daemon;

    private Bed(LocalCluster cluster) {
        this.cluster = cluster;
    }

    static Bed open(int slots) {
        return new Bed(LocalCluster.start(1, slots));
    }

    /** Started once for all classes of this JVM; its end is the end of the JVM. */
    static BrokerProcess broker() {
        return SharedBroker.broker();
    }

    static Topics topics() {
        return SharedBroker.topics();
    }

    LocalCluster cluster() {
        return cluster;
    }

    /** The daemon of this class, running. */
    DaemonProcess daemon() {
        if (daemon == null) {
            daemon = DaemonProcess.start();
        } else if (!daemon.process().isAlive()) {
            daemon.restart();
        }
        return daemon;
    }

    /** The daemon where the sink needs one, else null. */
    DaemonProcess daemonOf(Sink sink) {
        return sink.needsDaemon() ? daemon() : null;
    }

    /** A job with checkpoints every so many milliseconds. */
    SqlJob job(int parallelism, int checkpointMillis) {
        return SqlJob.on(cluster.rest())
                .explainedBy(this::diagnosis)
                .set("parallelism.default", Integer.toString(parallelism))
                .set("execution.checkpointing.interval", checkpointMillis + " ms");
    }

    /** What all parts of this bed say when a job does not do what it should. */
    private Diagnosis diagnosis() {
        Diagnosis all = new Diagnosis().with(cluster::diagnosis);
        return daemon == null ? all : all.with(daemon::diagnosis);
    }

    /** Submits and waits for the good end. */
    static FlinkJob finish(SqlJob job, String script) {
        FlinkJob submitted = job.submit(script);
        submitted.awaitFinished(JOB_TIMEOUT);
        return submitted;
    }

    static TopicJudge judge(String idColumn) {
        return new TopicJudge(broker().bootstrapServers(), RowId.jsonField(idColumn, 0), false);
    }

    static TopicContents read(String topic, String idColumn) {
        return judge(idColumn).read(topic);
    }

    /** Fails when a job of this class has left anything in the daemon or in this JVM, or has ended the TaskManager. */
    void requireNothingLeft() {
        cluster.requireTaskManagers();
        if (daemon != null && daemon.process().isAlive()) {
            daemon.awaitNothingLeft(LEFT_TIMEOUT);
        }
        JvmLeftovers.awaitNone(LEFT_TIMEOUT);
        long leaked = DaemonSession.leakedSegments();
        assertEquals(LEAKED.getAndSet(leaked), leaked, "segments that stay mapped: a writer was closed with an extent of them");
    }

    @Override
    public void close() {
        cluster.close();
        if (daemon != null) {
            daemon.close();
        }
    }
}
