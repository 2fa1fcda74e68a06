package dev.penstock.integration.bench;

import dev.penstock.integration.harness.BrokerProcess;
import dev.penstock.integration.harness.ChildProcess;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.JavaCommand;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code make bench-sink}: Nexmark bids through the exactly-once JSON sink, stock and Penstock alternating in one run,
 * parallelism 1 and 2, 1 s checkpoints. Each leg is a JVM of its own on the same broker and daemon. Only ratios within
 * one run mean anything.
 */
public final class SinkBench {
    private static final Duration LEG_TIMEOUT = Duration.ofMinutes(10);
    private static final int[] PARALLELISMS = {1, 2};

    private final BrokerProcess broker;
    private final Topics topics;
    private final DaemonProcess daemon;
    private final long rows;
    private final int pairs;

    private SinkBench(BrokerProcess broker, Topics topics, DaemonProcess daemon, long rows, int pairs) {
        this.broker = broker;
        this.topics = topics;
        this.daemon = daemon;
        this.rows = rows;
        this.pairs = pairs;
    }

    /** Kinds of legs in the order in which they alternate. */
    private enum Kind {
        STOCK, PENSTOCK, PENSTOCK_COLD;

        String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** System properties bench.rows (2,000,000) and bench.pairs (3) say how long it takes. */
    public static void main(String[] args) {
        long rows = Long.getLong("bench.rows", 2_000_000);
        int pairs = Integer.getInteger("bench.pairs", 3);
        if (rows < 1000 || pairs < 1) {
            System.err.println("bench-sink: ROWS=" + rows + " PAIRS=" + pairs + " are not usable: at least 1000 and 1");
            System.exit(2);
        }
        try (BrokerProcess broker = BrokerProcess.start();
                Topics topics = new Topics(broker.bootstrapServers());
                DaemonProcess daemon = DaemonProcess.start()) {
            new SinkBench(broker, topics, daemon, rows, pairs).run();
        }
        System.exit(0);
    }

    private void run() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rows", rows);
        List<String> summaries = new ArrayList<>();
        for (int parallelism : PARALLELISMS) {
            Map<Kind, LegSeries> series = new LinkedHashMap<>();
            for (Kind kind : Kind.values()) {
                series.put(kind, new LegSeries());
            }
            for (int i = 0; i < pairs; i++) {
                for (Kind kind : Kind.values()) {
                    series.get(kind).add(leg(kind, parallelism));
                }
            }
            Map<String, Object> entry = summarize(series);
            json.put("parallelism_" + parallelism, entry);
            summaries.add(summary(parallelism, entry));
        }
        ResultFile.write("bench-sink", json);
        System.out.println("bench-sink: " + String.join("; ", summaries));
    }

    private LegResult leg(Kind kind, int parallelism) {
        LegSettings settings = new LegSettings(sinkOptions(kind), parallelism, rows,
                topics.create("bench-" + kind.key(), parallelism, Map.of()), broker.bootstrapServers(),
                daemon.process().pid(), broker.process().pid());
        List<String> command = new ArrayList<>(List.of(JavaCommand.java(), "-Xmx2g"));
        command.addAll(JavaCommand.flinkModuleFlags());
        String logging = System.getProperty("log4j2.configurationFile");
        if (logging != null) {
            command.add("-Dlog4j2.configurationFile=" + logging);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchLeg.class.getName()));
        command.addAll(settings.arguments());
        long nativeBefore = daemon.status().counter("rows");
        LegResult result = LegResult.parse(ChildProcess.run(command, LEG_TIMEOUT));
        requireNative(kind, daemon.status().counter("rows") - nativeBefore);
        System.out.printf(Locale.ROOT, "%-14s p=%d  %8.0f rows/s  CPU us/row: job %.2f daemon %.2f broker %.2f  "
                        + "checkpoints %d: p50 %.0f ms p99 %.0f ms%n", kind.key(), parallelism, result.rowsPerSecond(),
                result.jobCpu(), result.daemonCpu(), result.brokerCpu(), result.checkpoints(), result.checkpointP50(),
                result.checkpointP99());
        return result;
    }

    /** A leg that fell back would be a comparison of stock with stock. */
    private void requireNative(Kind kind, long nativeRows) {
        if (kind != Kind.STOCK && nativeRows < rows) {
            throw new IllegalStateException("only " + nativeRows + " of " + rows + " rows of a " + kind.key()
                    + " leg went through the daemon" + daemon.process().logTail());
        }
    }

    private String sinkOptions(Kind kind) {
        return switch (kind) {
            case STOCK -> "'connector' = 'kafka'";
            case PENSTOCK -> penstock("true");
            case PENSTOCK_COLD -> penstock("false");
        };
    }

    private String penstock(String warmPool) {
        return "'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail', 'penstock.socket-dir' = '"
                + daemon.directory() + "', 'penstock.memory.budget' = '256mb'"
                + ", 'penstock.warm-pool' = '" + warmPool + "'";
    }

    private static Map<String, Object> summarize(Map<Kind, LegSeries> series) {
        Map<String, Object> entry = new LinkedHashMap<>();
        series.forEach((kind, legs) -> entry.put(kind.key(), legs.json()));
        LegSeries stock = series.get(Kind.STOCK);
        LegSeries ours = series.get(Kind.PENSTOCK);
        entry.put("rows_per_s_ratio", ours.median(LegResult::rowsPerSecond) / stock.median(LegResult::rowsPerSecond));
        entry.put("cpu_ratio", ours.median(LegResult::jobAndDaemonCpu) / stock.median(LegResult::jobCpu));
        entry.put("checkpoint_p50_ratio",
                ours.median(LegResult::checkpointP50) / stock.median(LegResult::checkpointP50));
        entry.put("checkpoint_p99_ratio",
                ours.median(LegResult::checkpointP99) / stock.median(LegResult::checkpointP99));
        return entry;
    }

    private static String summary(int parallelism, Map<String, Object> entry) {
        return String.format(Locale.ROOT, "p=%d: %.2f times the rows/s, %.2f times the CPU (job+daemon), checkpoints "
                        + "p50 %.2f p99 %.2f times stock's", parallelism, entry.get("rows_per_s_ratio"),
                entry.get("cpu_ratio"), entry.get("checkpoint_p50_ratio"), entry.get("checkpoint_p99_ratio"));
    }
}
