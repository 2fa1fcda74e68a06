package dev.penstock.flink.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@code integration/admission/cases.sql}, whose head says what stands there. */
final class AdmissionCases {

    /** The folder of the cases; tests run in the folder of their module. */
    static final Path FOLDER = Path.of("..", "..", "integration", "admission");

    private static final Pattern HEAD = Pattern.compile("(?m)^-- [a-z0-9-]+: ");
    private static final Pattern CASE = Pattern.compile(
            "(?m)^-- ([a-z0-9-]+): (native|fallback|fallback, refused|invalid)(?: with connector ([0-9.]+))?(?:: (.*))?\n"
                    + "([^-][\\s\\S]*?\\));\n");

    private AdmissionCases() {}

    /**
     * One table.
     *
     * @param verdict native, fallback, or "fallback, refused", or invalid
     * @param connector the line of flink-connector-kafka that a native case is limited to, or null
     * @param words part of the reason; of a native case, of what another connector does; null when there is none
     * @param definition what follows {@code CREATE TABLE t}
     */
    record Case(String name, String verdict, String connector, String words, String definition) {

        boolean isNative() {
            return verdict.equals("native");
        }

        /** The verdict with the connector of this class path. */
        String verdictHere() {
            return connector == null || RecordPlan.connector().startsWith(connector + ".") ? verdict : "fallback";
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Case> read() {
        String text;
        try {
            text = Files.readString(FOLDER.resolve("cases.sql"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<Case> cases = new ArrayList<>();
        Matcher matcher = CASE.matcher(text);
        while (matcher.find()) {
            cases.add(new Case(matcher.group(1), matcher.group(2), matcher.group(3), matcher.group(4),
                    complete(matcher.group(5))));
        }
        long heads = HEAD.matcher(text).results().count();
        if (cases.size() != heads) {
            throw new IllegalStateException(
                    "cases.sql has " + heads + " cases, of which " + cases.size() + " can be read");
        }
        return cases;
    }

    private static String complete(String definition) {
        StringBuilder more = new StringBuilder();
        if (!definition.contains("'connector' =")) {
            more.append(", 'connector' = 'penstock-kafka'");
        }
        if (!definition.contains("'topic' =") && !definition.contains("'topic-pattern' =")) {
            more.append(", 'topic' = 'flights'");
        }
        more.append(", 'properties.bootstrap.servers' = 'localhost:1')");
        return definition.substring(0, definition.lastIndexOf(')')) + more;
    }
}
