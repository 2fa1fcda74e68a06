package dev.penstock.integration.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a process holds at one moment (proc(5)).
 *
 * @param mappings of shared memory of the daemon
 * @param rssKilobytes VmRSS of /proc/PID/status, shared memory that it has touched included
 * @param anonymousKilobytes RssAnon there: heaps and stacks, without files and shared memory
 */
public record ProcessSample(
        long threads,
        long descriptors,
        long mappings,
        long rssKilobytes,
        long anonymousKilobytes) {
    /** The arena's id stands at the end of a segment's name, and the kernel adds that nobody can open it by that. */
    private static final Pattern SEGMENT = Pattern.compile("memfd:penstock-.*-([0-9a-f]+)( \\(deleted\\))?");

    /** What the process with this id holds now. */
    public static ProcessSample of(long pid) throws IOException {
        long threads = -1;
        long rss = -1;
        long anonymous = -1;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
            if (line.startsWith("Threads:")) {
                threads = number(line);
            } else if (line.startsWith("VmRSS:")) {
                rss = number(line);
            } else if (line.startsWith("RssAnon:")) {
                anonymous = number(line);
            }
        }
        if (threads < 0 || rss < 0) {
            throw new IOException("/proc/" + pid + "/status has no Threads or VmRSS: the process has ended");
        }
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return new ProcessSample(threads, descriptors.count(), segments(pid).size(), rss, anonymous);
        }
    }

    /** How many threads there are of each name, numbers left out; the kernel keeps 15 bytes of a name. */
    public static Map<String, Integer> threadNames(long pid) throws IOException {
        Map<String, Integer> names = new TreeMap<>();
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads.toList()) {
                try {
                    String name = Files.readString(thread.resolve("comm")).strip();
                    names.merge(name.replaceAll("[0-9]+", "#"), 1, Integer::sum);
                } catch (NoSuchFileException e) {
                    // It ended since it was listed.
                }
            }
        }
        return names;
    }

    /** The ids, in hexadecimal, of the arenas of which the process has segments mapped. */
    public static Set<String> arenas(long pid) throws IOException {
        return new TreeSet<>(segments(pid));
    }

    /** The arena's id for each mapping. */
    private static List<String> segments(long pid) throws IOException {
        try (Stream<String> mappings = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return mappings.map(SEGMENT::matcher).filter(Matcher::find).map(found -> found.group(1)).toList();
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
