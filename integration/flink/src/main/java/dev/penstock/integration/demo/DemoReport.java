package dev.penstock.integration.demo;

import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.judge.Verdict;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The demo's findings as a table, as out/demo.json and as one line. */
final class DemoReport {
    private final long expectedRows;
    private final DemoRun.Result stock;
    private final DemoRun.Result measured;
    private final DemoRun.Result killed;
    private final Verdict verdict;
    private final int killedTaskManagers;

    /**
     * A report of three runs.
     *
     * @param verdict of the run with the kill; the undisturbed run has been judged into it
     */
    DemoReport(long expectedRows, DemoRun.Result stock, DemoRun.Result measured, DemoRun.Result killed, Verdict verdict,
            int killedTaskManagers) {
        this.expectedRows = expectedRows;
        this.stock = stock;
        this.measured = measured;
        this.killed = killed;
        this.verdict = verdict;
        this.killedTaskManagers = killedTaskManagers;
    }

    /** Whether everything that the demo is to show has been shown. */
    boolean isGood() {
        return verdict.isExact() && verdict.rows() == expectedRows && fallbacks() == 0 && nativeBatches() > 0
                && killedTaskManagers > 0;
    }

    private long fallbacks() {
        return measured.fallbacks() + killed.fallbacks();
    }

    private long nativeBatches() {
        return measured.nativeBatches() + killed.nativeBatches();
    }

    void print() {
        System.out.printf(Locale.ROOT, "%n%-34s %14s %14s%n", "", "stock", "penstock");
        line("rows/s", stock.rowsPerSecond(), measured.rowsPerSecond());
        line("job JVMs, CPU us per row", stock.jobCpuMicrosPerRow(), measured.jobCpuMicrosPerRow());
        line("daemon, CPU us per row", stock.daemonCpuMicrosPerRow(), measured.daemonCpuMicrosPerRow());
        line("broker, CPU us per row", stock.brokerCpuMicrosPerRow(), measured.brokerCpuMicrosPerRow());
        System.out.printf(Locale.ROOT, "%nPenstock with %d TaskManager killed by SIGKILL:%n", killedTaskManagers);
        System.out.printf(Locale.ROOT,
                "  rows %d, lost %d, duplicated %d, differing %d, native batches %d, fallbacks %d%n",
                verdict.rows(), verdict.lost(), verdict.duplicated(), verdict.differing(), nativeBatches(),
                fallbacks());
        verdict.examples().forEach(example -> System.out.println("  " + example));
    }

    void write() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rows", verdict.rows());
        json.put("lost", verdict.lost());
        json.put("duplicated", verdict.duplicated());
        json.put("differing", verdict.differing());
        json.put("native_batches", nativeBatches());
        json.put("fallbacks", fallbacks());
        json.put("killed_taskmanagers", killedTaskManagers);
        json.put("stock", speed(stock));
        json.put("penstock", speed(measured));
        ResultFile.write("demo", json);
    }

    /** The last line of the output. */
    String summary() {
        return String.format(Locale.ROOT, "demo: %s, %d rows, %d lost, %d duplicated, %d differing, %d fallbacks, "
                        + "%d TaskManager killed; %.1f times the rows/s of stock",
                isGood() ? "ok" : "FAILED", verdict.rows(), verdict.lost(), verdict.duplicated(), verdict.differing(),
                fallbacks(), killedTaskManagers, measured.rowsPerSecond() / stock.rowsPerSecond());
    }

    private static void line(String name, double stock, double penstock) {
        String format = stock >= 1000 ? "%-34s %14.0f %14.0f%n" : "%-34s %14.2f %14.2f%n";
        System.out.printf(Locale.ROOT, format, name, stock, penstock);
    }

    private static Map<String, Object> speed(DemoRun.Result run) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rows_per_s", run.rowsPerSecond());
        json.put("job_cpu_us_per_row", run.jobCpuMicrosPerRow());
        json.put("daemon_cpu_us_per_row", run.daemonCpuMicrosPerRow());
        json.put("broker_cpu_us_per_row", run.brokerCpuMicrosPerRow());
        return json;
    }
}
