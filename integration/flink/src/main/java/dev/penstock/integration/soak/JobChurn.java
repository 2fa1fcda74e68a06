package dev.penstock.integration.soak;

import dev.penstock.integration.harness.FlinkJob;
import dev.penstock.integration.harness.ProcessBed;
import dev.penstock.integration.harness.ProcessSample;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.judge.Verdict;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code make job-churn}: short jobs one after the other on one session cluster. After each, the daemon has neither
 * session nor lease nor account left; over all, what daemon and TaskManager hold stays flat.
 */
public final class JobChurn {
    private static final int PARALLELISM = 2;
    private static final long ROWS = 500;
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final String SCRIPT = """
            CREATE TEMPORARY TABLE bids (${columns}) WITH ('connector' = 'penstock-bids', 'rows' = '${rows}');
            CREATE TEMPORARY TABLE sink (${columns}) WITH (
              'connector' = 'penstock-kafka', 'penstock.fallback' = 'fail',
              'topic' = '${topic}',
              'properties.bootstrap.servers' = '${brokers}',
              'format' = 'json',
              'sink.delivery-guarantee' = 'exactly-once',
              'sink.transactional-id-prefix' = '${topic}-${number}'
            );
            INSERT INTO sink SELECT * FROM bids;
            """;

    private final ProcessBed bed;
    private final String topic;
    private final ResourceSeries series = new ResourceSeries("jobs");

    private JobChurn(ProcessBed bed, String topic) {
        this.bed = bed;
        this.topic = topic;
    }

    /** System property churn.submits (100). Exit code 0 only when all rows are there and nothing grows. */
    public static void main(String[] args) throws IOException {
        int submits = Integer.getInteger("churn.submits", 100);
        if (submits < 8) {
            System.err.println("job-churn: SUBMITS=" + submits
                    + " is not usable: at least 8, for a line through the second half");
            System.exit(2);
        }
        boolean good;
        try (ProcessBed bed = ProcessBed.start(1, PARALLELISM)) {
            good = run(bed, submits);
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean run(ProcessBed bed, int submits) throws IOException {
        JobChurn churn = new JobChurn(bed, bed.topics().create("churn", PARALLELISM));
        try {
            for (int i = 1; i <= submits; i++) {
                churn.runOne(i);
            }
            return churn.report(submits);
        } catch (IOException | RuntimeException e) {
            bed.cluster().keepLogs("job-churn");
            throw e;
        }
    }

    private void runOne(int number) throws IOException {
        long began = System.currentTimeMillis();
        FlinkJob job = SqlJob.on(bed.cluster().rest())
                .explainedBy(bed.daemon()::diagnosis)
                .set("parallelism.default", Integer.toString(PARALLELISM))
                .set("execution.checkpointing.interval", "1 h")
                .submit(SqlJob.fill(SCRIPT, Map.of("columns", BidSource.COLUMNS, "rows", Long.toString(ROWS),
                        "topic", topic, "number", Integer.toString(number), "brokers", bed.broker().bootstrapServers())));
        job.awaitFinished(LIMIT);
        bed.daemon().awaitNothingLeft(LIMIT);
        series.add("daemon", number, ProcessSample.of(bed.daemon().process().pid()));
        series.add("taskmanager", number, ProcessSample.of(bed.cluster().taskManager("tm-1").pid()));
        if (number % 10 == 0) {
            System.out.printf("%4d jobs, the last in %d ms%n", number, System.currentTimeMillis() - began);
        }
    }

    private boolean report(int submits) {
        TopicJudge judge = new TopicJudge(bed.broker().bootstrapServers(), RowId.jsonField("auction", 0), false);
        Verdict verdict = judge.judge(judge.read(topic), ROWS);
        long sealed = bed.daemon().status().counter("epochs_sealed");
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("submits", submits);
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("epochs_sealed", sealed);
        List<String> faults = new ArrayList<>(series.report(json));
        // Each job writes the same rows.
        if (verdict.rows() != submits * ROWS || verdict.lost() != 0) {
            faults.add("rows " + verdict);
        }
        if (sealed < submits) {
            faults.add("only " + sealed + " epochs went through the daemon");
        }
        ResultFile.write("job-churn", json);
        System.out.println("job-churn: " + submits + " jobs, " + verdict.rows() + " rows, "
                + (faults.isEmpty() ? "nothing is left and nothing grows" : String.join("; ", faults)));
        return faults.isEmpty();
    }
}
