package dev.penstock.integration.parity;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.StringData;

/** Strings heavy in what a JSON writer can get wrong, backed by a Java String or by bytes that need not be UTF-8. */
final class RandomStrings {
    private static final String[] PARTS = {
        "", "a", "hello world", "0123456789", "\"", "\\", "/", "\b\t\n\f\r", "\u0000", "\u000b\u001f", "\u007f\u0080",
        "é", "ß\u00ff", "\u07ff\u0800", "€", "\u2028\u2029", "\ufeff", "\ufffd\uffff", "漢字かな", "\uD83D\uDE00",
        "\uD800\uDC00\uDBFF\uDFFF", "<script>&'", "?", "null", "NaN", "1E+2", "{\"a\":[1]}"
    };

    /** Sequences of formats.md 1.1: what the JDK's decoder groups in its own way. */
    private static final int[][] MALFORMED = {
        {0x80}, {0xff}, {0xc0, 0x80}, {0xc1, 0xbf}, {0xf5, 0x80, 0x80, 0x80}, {0xc3}, {0xc3, 0xc3, 0xa9}, {0xe2, 0x82},
        {0xe2, 0x41}, {0xe0, 0x80, 0x80}, {0xe0, 0x9f, 0xbf}, {0xed, 0xa0, 0x80}, {0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80},
        {0xed, 0xa0, 0x41}, {0xf0, 0x9f, 0x98}, {0xf0, 0x9f}, {0xf0, 0x80, 0x80, 0x80}, {0xf4, 0x90, 0x80, 0x80},
        {0xf8, 0x88, 0x80, 0x80, 0x80}, {0xfe}, {0xe2, 0x82, 0xac, 0xe2}
    };

    private final SplittableRandom random;

    RandomStrings(SplittableRandom random) {
        this.random = random;
    }

    StringData next() {
        return switch (random.nextInt(8)) {
            case 0 -> StringData.fromBytes(someMalformed());
            case 1 -> StringData.fromBytes(text().getBytes(StandardCharsets.UTF_8));
            case 2 -> StringData.fromBytes(bytes(random.nextInt(12)));
            default -> StringData.fromString(text());
        };
    }

    /** Different strings with one hash code, which lie in one bucket of a hash table; at most 16. */
    static GenericArrayData colliding(int n) {
        Object[] out = new Object[n];
        for (int i = 0; i < n; i++) {
            StringBuilder text = new StringBuilder();
            for (int bit = 3; bit >= 0; bit--) {
                text.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            out[i] = StringData.fromString(text.toString());
        }
        return new GenericArrayData(out);
    }

    private String text() {
        // Now and then longer than the buffers of Jackson's generator, so that pieces meet at its edges.
        int parts = random.nextInt(200) == 0 ? 1500 + random.nextInt(1500) : random.nextInt(6);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < parts; i++) {
            if (random.nextInt(4) == 0) {
                out.appendCodePoint(codePoint());
            } else {
                out.append(PARTS[random.nextInt(PARTS.length)]);
            }
        }
        return out.toString();
    }

    private int codePoint() {
        int c = random.nextInt(random.nextBoolean() ? 0x800 : Character.MAX_CODE_POINT + 1);
        return c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 'x' : c;
    }

    /** All malformed sequences, one by one. */
    static List<byte[]> malformed() {
        List<byte[]> sequences = new ArrayList<>();
        for (int[] sequence : MALFORMED) {
            byte[] bytes = new byte[sequence.length];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) sequence[i];
            }
            sequences.add(bytes);
        }
        return sequences;
    }

    private byte[] someMalformed() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = random.nextInt(4); i >= 0; i--) {
            for (int b : MALFORMED[random.nextInt(MALFORMED.length)]) {
                out.write(b);
            }
            out.writeBytes(PARTS[random.nextInt(PARTS.length)].getBytes(StandardCharsets.UTF_8));
        }
        return out.toByteArray();
    }

    byte[] bytes(int count) {
        byte[] out = new byte[count];
        for (int i = 0; i < count; i++) {
            out[i] = (byte) random.nextInt(256);
        }
        return out;
    }
}
