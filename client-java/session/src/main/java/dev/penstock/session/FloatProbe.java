package dev.penstock.session;

import dev.penstock.proto.v1.ErrorKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * How this JVM spells the numbers of the fixed probe corpus (formats.md 1.2): JDK 19 changed {@code Double.toString},
 * and the daemon must write what the job's own JVM would have written. The corpus is {@code
 * kafka/encode/testdata/float_probe.txt}: a line {@code d <16 hex digits>} is a double by its bits, {@code f <8 hex
 * digits>} a float; empty lines and lines that start with {@code #} are skipped.
 */
final class FloatProbe {

    private static final String CORPUS = "float_probe.txt";

    private FloatProbe() {}

    /** The spellings, one for each entry, in the corpus's order. */
    static List<String> spellings() throws DaemonException {
        try (InputStream in = FloatProbe.class.getResourceAsStream(CORPUS)) {
            if (in == null) {
                throw new IOException("not in the jar");
            }
            return spell(new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII)));
        } catch (IOException e) {
            throw brokenJar(CORPUS, e);
        }
    }

    /** Spells each entry of a corpus. */
    static List<String> spell(BufferedReader corpus) throws IOException {
        List<String> spellings = new ArrayList<>();
        for (String line = corpus.readLine(); line != null; line = corpus.readLine()) {
            if (!line.isBlank() && !line.startsWith("#")) {
                spellings.add(spell(line.strip()));
            }
        }
        return spellings;
    }

    static DaemonException brokenJar(String resource, IOException cause) {
        return new DaemonException(ErrorKind.INTERNAL, "resource dev/penstock/session/" + resource
                + " of penstock-session cannot be read (" + cause.getMessage() + "): the jar is incomplete, replace it",
                cause);
    }

    private static String spell(String entry) throws IOException {
        try {
            String bits = entry.substring(2);
            if (entry.startsWith("d ") && bits.length() == 16) {
                return Double.toString(Double.longBitsToDouble(Long.parseUnsignedLong(bits, 16)));
            }
            if (entry.startsWith("f ") && bits.length() == 8) {
                return Float.toString(Float.intBitsToFloat(Integer.parseUnsignedInt(bits, 16)));
            }
        } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
            throw new IOException("line \"" + entry + "\" is no probe entry", e);
        }
        throw new IOException("line \"" + entry + "\" is no probe entry");
    }
}
