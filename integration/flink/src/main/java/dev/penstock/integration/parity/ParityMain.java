package dev.penstock.integration.parity;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * {@code make parity}: compares random rows, writes {@code out/parity.json} and ends with one summary line. Exit status
 * 1 when anything differs, 2 when the options are wrong.
 */
public final class ParityMain {
    private static final String USAGE =
            "use --format " + ParityFormat.names() + ", --cells N, --rows N, --seed S, --out FILE";

    private ParityFormat format = ParityFormat.JSON;
    private long cells;
    private long rows;
    private long seed = ThreadLocalRandom.current().nextLong(1, 1L << 40);
    private Path out = Path.of("out", "parity.json");

    private ParityMain() {}

    /** Entry point; see the class comment. */
    public static void main(String[] args) throws Exception {
        ParityMain options = new ParityMain();
        try {
            options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
        System.exit(options.run());
    }

    private void parse(String[] args) {
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException("option " + args[i] + " has no value: " + USAGE);
            }
            String value = args[i + 1];
            switch (args[i]) {
                case "--format" -> format = ParityFormat.of(value);
                case "--cells" -> cells = number(args[i], value);
                case "--rows" -> rows = number(args[i], value);
                case "--seed" -> seed = number(args[i], value);
                case "--out" -> out = Path.of(value);
                default -> throw new IllegalArgumentException("unknown option " + args[i] + ": " + USAGE);
            }
        }
        if (cells <= 0 && rows <= 0) {
            cells = 1_000_000;
        }
    }

    private static long number(String option, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(option + " " + value + " is not a whole number");
        }
    }

    private int run() throws Exception {
        ParityReport report = ParityRun.compare(format, cells, rows, seed);
        report.differences().forEach(difference -> System.out.println("DIFFERENCE in " + difference + "\n"));
        if (out.toAbsolutePath().getParent() != null) {
            Files.createDirectories(out.toAbsolutePath().getParent());
        }
        Files.writeString(out, report.json());
        System.out.println(report.summary());
        return report.differing() == 0 ? 0 : 1;
    }
}
