package dev.penstock.integration.minicluster;

import dev.penstock.integration.harness.DaemonProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/** The two sinks that every end-to-end test runs, and the table options in which they differ. */
enum Sink {
    STOCK("kafka"),
    PENSTOCK("penstock-kafka");

    private final String connector;

    Sink(String connector) {
        this.connector = connector;
    }

    /**
     * The sinks of parameterized tests: all, or those that system property {@code penstock.sinks} names with commas, so
     * that a test itself can be tried without a daemon.
     */
    static Stream<Sink> underTest() {
        String names = System.getProperty("penstock.sinks", "");
        return names.isEmpty() ? Arrays.stream(values()) : Arrays.stream(names.split(",")).map(Sink::valueOf);
    }

    /**
     * The beginning of a WITH clause. Without falling back: a test that silently ran on the stock writer would prove
     * nothing about Penstock.
     */
    String options(DaemonProcess daemon) {
        return needsDaemon()
                ? optionsWithFallback(daemon.directory()) + ", 'penstock.fallback' = 'fail'" : "'connector' = 'kafka'";
    }

    /** As a user writes them who names only the folder of the sockets. */
    String optionsWithFallback(Path directory) {
        return "'connector' = '" + connector + "', 'penstock.socket-dir' = '" + directory + "'";
    }

    boolean needsDaemon() {
        return this == PENSTOCK;
    }
}
