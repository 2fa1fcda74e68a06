package dev.penstock.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;

class FloatProbeTest {

    @Test
    void spellsEntriesByTheirBits() throws IOException {
        assertEquals(List.of("1.0", "-0.0", "NaN", "1.0E10", "3.4028235E38"), spell(
                "# doubles\nd 3ff0000000000000\nd 8000000000000000\n"
                        + "d 7ff8000000000000\n\nd 4202a05f20000000\nf 7f7fffff\n"));
    }

    @Test
    void refusesALineThatIsNoEntry() {
        for (String line : List.of("d 3ff0", "x 3ff0000000000000", "f zzzzzzzz", "d")) {
            IOException e = assertThrows(IOException.class, () -> spell(line + "\n"));
            RawSessionSocketTest.assertContains(e, line);
        }
    }

    @Test
    void theCorpusOfTheEncoderIsInTheJar() throws DaemonException {
        assertFalse(FloatProbe.spellings().isEmpty());
    }

    private static List<String> spell(String corpus) throws IOException {
        return FloatProbe.spell(new BufferedReader(new StringReader(corpus)));
    }
}
