package dev.penstock.flink.sink;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.json.PackageVersion;

/**
 * The versions of this process that decide about the bytes of a record. The daemon has the same table and has the last
 * word ({@code kafka/encode/dialect.go} and {@code daemon/session/hello.go}): the process that plans a job need not be
 * like the one that runs it.
 *
 * @param flink version of Flink, for example "2.2.1"
 * @param jackson version of the Jackson that Flink shades, for example "2.18.2"
 * @param jvm feature version of the JVM, for example 17
 */
public record RunningVersions(String flink, String jackson, int jvm) {

    /** Lines of Flink whose serializers the daemon's encoders have been compared with, and the Jackson of each. */
    private static final Map<String, String> LINES =
            new TreeMap<>(Map.of("2.0", "2.15.3", "2.1", "2.18.2", "2.2", "2.18.2", "2.3", "2.20.1"));

    /** The version of a release; a snapshot, a candidate and a vendor's build are something else. */
    private static final Pattern RELEASE = Pattern.compile("(\\d+\\.\\d+)\\.\\d+");

    private static final int OLDEST_JVM = 17;
    private static final int NEWEST_JVM = 25;

    /** Those of this process. */
    public static RunningVersions current() {
        return new RunningVersions(
                EnvironmentInformation.getVersion(),
                PackageVersion.VERSION.toString(),
                Runtime.version().feature());
    }

    /** Why it is not known which bytes the stock sink writes with these versions; empty when it is known. */
    public Optional<String> unknown() {
        Matcher release = RELEASE.matcher(flink);
        String known = release.matches() ? LINES.get(release.group(1)) : null;
        if (known == null) {
            return Optional.of(
                    "Flink " + flink + " is not known to Penstock; known are the releases of " + LINES.keySet());
        }
        if (!known.equals(jackson)) {
            return Optional.of(
                    "Flink " + flink + " with the shaded Jackson " + jackson
                            + " is not known to Penstock; known is Jackson " + known);
        }
        if (jvm < OLDEST_JVM || jvm > NEWEST_JVM) {
            return Optional.of(
                    "a JVM of version " + jvm + " is not known to Penstock; known are " + OLDEST_JVM + " to "
                            + NEWEST_JVM);
        }
        return Optional.empty();
    }
}
