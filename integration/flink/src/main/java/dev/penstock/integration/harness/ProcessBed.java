package dev.penstock.integration.harness;

import java.util.Map;

/** A broker, a daemon and a Flink cluster, all as processes; all are ended by {@link #close}. */
public final class ProcessBed implements AutoCloseable {
    private final BrokerProcess broker;
    private final Topics topics;
    private final DaemonProcess daemon;
    private final FlinkCluster cluster;

    private ProcessBed(BrokerProcess broker, DaemonProcess daemon, FlinkCluster cluster) {
        this.broker = broker;
        this.topics = new Topics(broker.bootstrapServers());
        this.daemon = daemon;
        this.cluster = cluster;
    }

    /**
     * Starts everything, or nothing. TaskManagers find the daemon without an option of the table.
     *
     * @param slots for each TaskManager
     */
    public static ProcessBed start(int taskManagers, int slots) {
        return start(taskManagers, slots, "");
    }

    /** Likewise, with these sections in the daemon's configuration. */
    public static ProcessBed start(int taskManagers, int slots, String daemonSections) {
        BrokerProcess broker = BrokerProcess.start();
        DaemonProcess daemon = null;
        try {
            daemon = DaemonProcess.start(daemonSections);
            FlinkCluster cluster = FlinkCluster.start(taskManagers, slots,
                    Map.of(DaemonProcess.DIRECTORY_VARIABLE, daemon.directory().toString()));
            return new ProcessBed(broker, daemon, cluster);
        } catch (RuntimeException e) {
            if (daemon != null) {
                daemon.close();
            }
            broker.close();
            throw e;
        }
    }

    public BrokerProcess broker() {
        return broker;
    }

    public Topics topics() {
        return topics;
    }

    public DaemonProcess daemon() {
        return daemon;
    }

    public FlinkCluster cluster() {
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
