package dev.penstock.flink.sink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places at which a test makes a task fail or its process die. For tests alone: without the system property {@code
 * penstock.faultpoints}, which is read once, a place is one comparison with null.
 *
 * <p>The property names a file with one rule a line: place, action ({@code throw}, or {@code halt} as SIGKILL would end
 * the process), and {@code after=} hits or {@code times=} as in the daemon's fault points. The file is read at each
 * place, so that a test can change it; what a rule has done is forgotten when it changes.
 */
enum FaultPoint {
    /** All rows of the epoch are handed over. */
    BEFORE_SEAL,
    /** The epoch is proven, and no checkpoint knows of it yet. */
    AFTER_SEAL,
    /** The writer takes its part of a checkpoint. */
    IN_SNAPSHOT,
    /** A checkpoint is complete and not committed. */
    BEFORE_COMMIT,
    /** A checkpoint is committed, which no later one knows. */
    AFTER_COMMIT,
    /** The writer ends, before it has given anything up. */
    IN_CLOSE;

    private static final String PROPERTY = "penstock.faultpoints";
    private static final int KILLED = 137;
    private static final Path FILE =
            System.getProperty(PROPERTY) == null ? null : Path.of(System.getProperty(PROPERTY));
    private static final Logger LOG = LoggerFactory.getLogger(FaultPoint.class);

    /** The file as it was read last, and its rules; guarded by the class. */
    private static String text = "";

    private static List<Rule> rules = List.of();

    private static final class Rule {
        private final FaultPoint point;
        private final boolean halts;
        private int after;
        private int times = 1;

        Rule(String[] words) {
            point = valueOf(words[0].toUpperCase(Locale.ROOT).replace('-', '_'));
            halts = words[1].equals("halt");
            if (!halts && !words[1].equals("throw")) {
                throw new IllegalArgumentException("'" + words[1] + "' is neither throw nor halt");
            }
            for (int i = 2; i < words.length; i++) {
                String[] option = words[i].split("=", 2);
                int value = Integer.parseInt(option[1]);
                switch (option[0]) {
                    case "after" -> after = value;
                    case "times" -> times = value;
                    default -> throw new IllegalArgumentException("'" + words[i] + "' is neither after= nor times=");
                }
            }
        }

        boolean fires() {
            return after-- <= 0 && times-- > 0;
        }
    }

    /**
     * Does what the rules of this place say.
     *
     * @throws IllegalStateException when a rule wants it, or when the file cannot be understood: a test that goes on
     *     without its fault proves nothing
     */
    void hit() {
        if (FILE != null) {
            applyRules();
        }
    }

    private void applyRules() {
        Rule rule = firing(this);
        if (rule == null) {
            return;
        }
        LOG.warn("Fault point {}.", this);
        if (rule.halts) {
            Runtime.getRuntime().halt(KILLED);
        }
        throw new IllegalStateException("Fault point " + this + ": failed as its rule wants.");
    }

    private static synchronized Rule firing(FaultPoint point) {
        String now = read();
        if (!now.equals(text)) {
            rules = parse(now);
            text = now;
        }
        return rules.stream().filter(r -> r.point == point && r.fires()).findFirst().orElse(null);
    }

    private static String read() {
        try {
            return Files.readString(FILE);
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Rule> parse(String lines) {
        List<Rule> parsed = new ArrayList<>();
        for (String line : lines.lines().filter(l -> !l.isBlank()).toList()) {
            try {
                parsed.add(new Rule(line.strip().split("\\s+")));
            } catch (RuntimeException e) {
                throw new IllegalStateException(PROPERTY + "=" + FILE + ": not a rule: " + line, e);
            }
        }
        return parsed;
    }
}
