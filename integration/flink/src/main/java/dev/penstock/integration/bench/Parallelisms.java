package dev.penstock.integration.bench;

import java.util.Arrays;

/** Which parallelisms a benchmark goes through: the system property bench.parallelism, numbers with commas between them. */
final class Parallelisms {
    private static final int MOST = 64;

    private Parallelisms() {}

    /** The numbers of the property, or the given ones when it is not set; ends the process with a text when it makes no sense. */
    static int[] or(int... defaults) {
        String text = System.getProperty("bench.parallelism", "");
        if (text.isEmpty()) {
            return defaults;
        }
        try {
            int[] chosen = Arrays.stream(text.split(",")).map(String::trim).mapToInt(Integer::parseInt).toArray();
            if (Arrays.stream(chosen).allMatch(p -> p >= 1 && p <= MOST)) {
                return chosen;
            }
        } catch (NumberFormatException e) {
            // Falls through to the text.
        }
        System.err.println("PARALLELISM=" + text + " is not usable: numbers from 1 to " + MOST + ", for example 1,2");
        System.exit(2);
        throw new AssertionError("unreachable");
    }
}
