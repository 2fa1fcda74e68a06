package dev.penstock.integration.harness;

/** One broker for all test classes of a JVM that do not disturb it; started by the first, ended with the JVM. */
public final class SharedBroker {
    private static final BrokerProcess BROKER = BrokerProcess.start();
    private static final Topics TOPICS = new Topics(BROKER.bootstrapServers());

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(BROKER::close, "close-broker"));
    }

    private SharedBroker() {}

    /** The running broker; nobody closes, stops or pauses it. */
    public static BrokerProcess broker() {
        return BROKER;
    }

    /** Its topics; thread safe. */
    public static Topics topics() {
        return TOPICS;
    }
}
