package dev.penstock.integration.demo;

import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.judge.TopicContents;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code make demo}: the same script with stock's sink and with Penstock's, first undisturbed for the numbers, then
 * Penstock's once more with the sink's TaskManager killed, for the proof. Exit code 0 only when every row is there once
 * and equal, nothing fell back, and a TaskManager was killed.
 */
public final class Demo {
    private static final Duration LEFT_TIMEOUT = Duration.ofSeconds(30);

    private final ProcessBed bed;
    private final DemoSettings settings;

    private Demo(ProcessBed bed, DemoSettings settings) {
        this.bed = bed;
        this.settings = settings;
    }

    /** Settings come as system properties, see {@link DemoSettings#read}. */
    public static void main(String[] args) throws IOException {
        DemoSettings settings;
        try {
            settings = DemoSettings.read();
        } catch (IllegalArgumentException e) {
            System.err.println("demo: " + e.getMessage());
            System.exit(2);
            return;
        }
        say("starting a Kafka broker, penstockd, a JobManager and two TaskManagers");
        boolean good;
        try (ProcessBed bed = DemoRun.startBed()) {
            good = new Demo(bed, settings).run();
        }
        System.exit(good ? 0 : 1);
    }

    private boolean run() throws IOException {
        try {
            DemoReport report = produce();
            report.print();
            report.write();
            System.out.println();
            System.out.println(report.summary());
            if (!report.isGood()) {
                bed.cluster().keepLogs("demo");
            }
            return report.isGood();
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("demo");
            System.err.println("logs of the cluster are in out/logs/demo");
            throw e;
        }
    }

    private DemoReport produce() throws IOException {
        DemoRun stock = new DemoRun(bed, settings, "kafka");
        DemoRun ours = new DemoRun(bed, settings, settings.connector());
        say(settings.rows() + " rows with 'connector' = 'kafka'");
        DemoRun.Result stockResult = stock.measured();
        say(settings.rows() + " rows with 'connector' = '" + settings.connector() + "'");
        DemoRun.Result measured = ours.measured();
        say(settings.rows() + " rows with 'connector' = '" + settings.connector() + "' and a kill in the middle");
        DemoRun.Result killed = ours.withKill();
        bed.daemon().awaitNothingLeft(LEFT_TIMEOUT);
        say("comparing the topics");
        return new DemoReport(settings.rows(), stockResult, measured, killed, judge(stockResult, measured, killed), 1);
    }

    /** The verdict on the run with the kill, with the faults of the undisturbed run added. */
    private Verdict judge(DemoRun.Result stock, DemoRun.Result measured, DemoRun.Result killed) {
        TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("id", 0), false);
        TopicContents reference = judge.read(stock.topic());
        Verdict onStock = judge.judge(reference, settings.rows());
        if (!onStock.isExact()) {
            throw new IllegalStateException("the stock run itself is not exact, nothing can be compared: " + onStock);
        }
        Verdict onMeasured = judge(judge, reference, measured);
        Verdict onKilled = judge(judge, reference, killed);
        List<String> examples = new ArrayList<>(onKilled.examples());
        onMeasured.examples().forEach(example -> examples.add("undisturbed run: " + example));
        return new Verdict(onKilled.rows(), onKilled.lost() + onMeasured.lost(),
                onKilled.duplicated() + onMeasured.duplicated(), onKilled.differing() + onMeasured.differing(),
                examples);
    }

    private Verdict judge(TopicJudge judge, TopicContents reference, DemoRun.Result run) {
        return judge.judge(reference, judge.read(run.topic()), settings.rows(), run.fromMillis(), run.toMillis());
    }

    private static void say(String what) {
        System.out.println("- " + what);
    }
}
