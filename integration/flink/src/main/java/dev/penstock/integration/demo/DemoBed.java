package dev.penstock.integration.demo;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.FlinkCluster;
import dev.penstock.integration.harness.Topics;
import java.util.Map;

/** The running parts of the demo; all are ended by {@link #close}. */
final class DemoBed implements AutoCloseable {
    private static final int TASK_MANAGERS = 2;
    /** As many as the job's parallelism: it fits into one TaskManager, and the other can take over. */
    static final int SLOTS = 2;

    private final BrokerProcess broker;
    private final Topics topics;
    private final DaemonProcess daemon;
    private final FlinkCluster cluster;

    private DemoBed(BrokerProcess broker, DaemonProcess daemon, FlinkCluster cluster) {
        this.broker = broker;
        this.topics = new Topics(broker.bootstrapServers());
        this.daemon = daemon;
        this.cluster = cluster;
    }

    /** Starts everything, or nothing. */
    static DemoBed start() {
        BrokerProcess broker = BrokerProcess.start();
        DaemonProcess daemon = null;
        try {
            daemon = DaemonProcess.start();
            FlinkCluster cluster = FlinkCluster.start(TASK_MANAGERS, SLOTS,
                    Map.of(DaemonProcess.DIRECTORY_VARIABLE, daemon.directory().toString()));
            return new DemoBed(broker, daemon, cluster);
        } catch (RuntimeException e) {
            if (daemon != null) {
                daemon.close();
            }
            broker.close();
            throw e;
        }
    }

    BrokerProcess broker() {
        return broker;
    }

    Topics topics() {
        return topics;
    }

    DaemonProcess daemon() {
        return daemon;
    }

    FlinkCluster cluster() {
        return cluster;
    }

    @Override
    public void close() {
        cluster.close();
        daemon.close();
        topics.close();
        broker.close();
    }
}
