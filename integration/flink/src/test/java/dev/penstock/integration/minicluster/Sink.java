package dev.penstock.integration.minicluster;

import dev.penstock.integration.harness.DaemonProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/** The two sinks that every end-to-end test runs, and the table options in which they differ. */
enum Sink {
    STOCK("kafka", "upsert-kafka"),
    PENSTOCK("penstock-kafka", "penstock-upsert-kafka");

    private final String connector;
    private final String upsertConnector;

    Sink(String connector, String upsertConnector) {
        this.connector = connector;
        this.upsertConnector = upsertConnector;
    }

    /**
     * The sinks of parameterized tests: Penstock's, or those that system property {@code penstock.sinks} names with
     * commas. Whoever finds a failing test runs it with {@code STOCK} first: what stock fails, too, is a fault of the
     * test or of Flink.
     */
    static Stream<Sink> underTest() {
        return Arrays.stream(System.getProperty("penstock.sinks", PENSTOCK.name()).split(",")).map(Sink::valueOf);
    }

    /**
     * The beginning of a WITH clause. Without falling back: a test that silently ran on the stock writer would prove
     * nothing about Penstock.
     */
    String options(DaemonProcess daemon) {
        return options(connector, daemon);
    }

    /** The same of an upsert table. */
    String upsertOptions(DaemonProcess daemon) {
        return options(upsertConnector, daemon);
    }

    private String options(String name, DaemonProcess daemon) {
        return needsDaemon()
                ? options(name, daemon.directory()) + ", 'penstock.fallback' = 'fail'"
                : "'connector' = '" + name + "'";
    }

    /** As a user writes them who names only the folder of the sockets. */
    String optionsWithFallback(Path directory) {
        return options(connector, directory);
    }

    private static String options(String name, Path directory) {
        return "'connector' = '" + name + "', 'penstock.socket-dir' = '" + directory + "'";
    }

    boolean needsDaemon() {
        return this == PENSTOCK;
    }
}
