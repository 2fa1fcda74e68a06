package dev.penstock.integration.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds at one moment (proc(5)).
 *
 * @param rssKilobytes VmRSS of /proc/PID/status, shared memory that it has touched included
 */
record ProcessSample(long threads, long descriptors, long rssKilobytes) {

    static ProcessSample of(long pid) throws IOException {
        long threads = -1;
        long rss = -1;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
            if (line.startsWith("Threads:")) {
                threads = number(line);
            } else if (line.startsWith("VmRSS:")) {
                rss = number(line);
            }
        }
        if (threads < 0 || rss < 0) {
            throw new IOException("/proc/" + pid + "/status has no Threads or VmRSS: the process has ended");
        }
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return new ProcessSample(threads, descriptors.count(), rss);
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
