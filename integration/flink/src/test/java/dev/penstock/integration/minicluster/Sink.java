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
