package dev.penstock.integration.bench;

import dev.penstock.arena.Extent;
import dev.penstock.integration.harness.DaemonProcess;
import dev.penstock.integration.harness.Deadline;
import dev.penstock.integration.harness.ResultFile;
import dev.penstock.integration.harness.WriterWithoutBroker;
import dev.penstock.session.DaemonException;
import dev.penstock.session.DaemonSession;
import dev.penstock.session.SessionSettings;
import dev.penstock.session.WriterStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a task waits for one more segment from a real daemon that has a populated one ready: request, descriptor, mapping
 * and the check of its header; then the first store into each of its pages.
 */
public final class WarmLeaseBench {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int ROUNDS = 60;
    private static final int WARM_UP = 10;
    private static final int PAGE_BYTES = 4096;

    private WarmLeaseBench() {}

    /** Writes out/bench-warm-lease.json. */
    public static void main(String[] args) throws DaemonException {
        long[] lease = new long[ROUNDS];
        long[] page = new long[ROUNDS];
        try (DaemonProcess daemon = DaemonProcess.start()) {
            for (int i = -WARM_UP; i < ROUNDS; i++) {
                long[] once = measure(daemon);
                if (i >= 0) {
                    lease[i] = once[0];
                    page[i] = once[1];
                }
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("rounds", ROUNDS);
        put(json, "lease_us", lease, 1_000);
        put(json, "first_store_ns_per_page", page, 1);
        ResultFile.write("bench-warm-lease", json);
        System.out.println("warm lease: " + json);
    }

    /** Nanoseconds of the lease, and of the first store into a page of it on average. */
    private static long[] measure(DaemonProcess daemon) throws DaemonException {
        Deadline.in(LIMIT).await("a warm segment", () -> daemon.status().memory("warm_bytes") > 0);
        DaemonSession session = DaemonSession.acquire(
                new SessionSettings(daemon.directory(), 256 << 20, "bench", "2.2.1", "2.18.2", LIMIT));
        try (WriterStream stream = session.openWriter(WriterWithoutBroker.open("bench"), LIMIT)) {
            long start = System.nanoTime();
            Extent extent = stream.nextExtent((int) session.maxBatchBytes(), LIMIT);
            long leased = System.nanoTime();
            for (int at = 0; at < extent.capacity(); at += PAGE_BYTES) {
                extent.segment().put(extent.offset() + at, (byte) 1);
            }
            long stored = System.nanoTime();
            long pages = extent.capacity() / PAGE_BYTES;
            stream.giveBack(extent);
            return new long[] {leased - start, (stored - leased) / pages};
        } finally {
            session.release();
        }
    }

    private static void put(Map<String, Object> json, String name, long[] values, double unit) {
        Arrays.sort(values);
        json.put(name + "_min", values[0] / unit);
        json.put(name + "_p50", values[values.length / 2] / unit);
        json.put(name + "_max", values[values.length - 1] / unit);
    }
}
