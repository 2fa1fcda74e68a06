package dev.penstock.integration.parity;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/** The values of the fixed corpus: every one stands at a point where the text of a format changes its form. */
final class CorpusValues {
    private static final int RANDOM_PATTERNS = 10_000;

    private CorpusValues() {}

    /** Floats around each power of two and ten and each end of a range, and random bit patterns. */
    static List<Float> floats() {
        List<Float> floats = new ArrayList<>(List.of(
                0f, -0f, Float.NaN, Float.intBitsToFloat(0x7FC00001), Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
                Float.MIN_VALUE, Float.MAX_VALUE));
        for (int exponent = -149; exponent < 128; exponent++) {
            around(floats, Math.scalb(1f, exponent));
        }
        for (int exponent = -45; exponent <= 38; exponent++) {
            around(floats, Float.parseFloat("1e" + exponent));
        }
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < RANDOM_PATTERNS; i++) {
            floats.add(Float.intBitsToFloat(random.nextInt()));
        }
        return floats;
    }

    private static void around(List<Float> floats, float value) {
        floats.addAll(List.of(Math.nextDown(value), value, -value, Math.nextUp(value)));
    }

    /** As {@link #floats}. */
    static List<Double> doubles() {
        List<Double> doubles = new ArrayList<>(List.of(
                0d, -0d, Double.NaN, Double.longBitsToDouble(0x7FF8000000000001L), Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE));
        for (int exponent = -1074; exponent < 1024; exponent++) {
            around(doubles, Math.scalb(1d, exponent));
        }
        for (int exponent = -324; exponent <= 308; exponent++) {
            around(doubles, Double.parseDouble("1e" + exponent));
        }
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < RANDOM_PATTERNS; i++) {
            doubles.add(Double.longBitsToDouble(random.nextLong()));
        }
        return doubles;
    }

    private static void around(List<Double> doubles, double value) {
        doubles.addAll(List.of(Math.nextDown(value), value, -value, Math.nextUp(value)));
    }

    /** Each power of ten that the type holds, and what is next to it, with both signs. */
    static List<DecimalData> decimals(int precision, int scale) {
        List<DecimalData> decimals = new ArrayList<>();
        for (int digits = 0; digits <= precision; digits++) {
            BigInteger power = BigInteger.TEN.pow(digits);
            for (BigInteger unscaled : List.of(power.subtract(BigInteger.ONE), power, power.add(BigInteger.ONE))) {
                for (BigInteger signed : List.of(unscaled, unscaled.negate())) {
                    // Null where it has one digit too many.
                    decimals.add(DecimalData.fromBigDecimal(new BigDecimal(signed, scale), precision, scale));
                }
            }
        }
        return decimals;
    }

    /** Ends of years, of what fits nanoseconds in 64 bits (1677 to 2262) and of the type, with fractions of all lengths. */
    static List<TimestampData> timestamps() {
        long nanosEnd = Long.MAX_VALUE / 1_000_000;
        long[] millis = {
            0, -1, 999, 1000, -1000, -1001, 1_700_000_000_000L, 951_782_400_000L, -nanosEnd - 1, -nanosEnd, nanosEnd,
            nanosEnd + 1, 253_402_300_799_999L, 253_402_300_800_000L, -62_135_596_800_000L, -62_135_596_800_001L,
            -62_167_219_200_000L, -62_167_219_200_001L, -377_736_739_200_001L, Long.MAX_VALUE, Long.MIN_VALUE,
            Long.MAX_VALUE - 807, Long.MIN_VALUE + 808
        };
        int[] nanos = {0, 1, 10, 1_000, 100_000, 123_456, 999_999};
        List<TimestampData> timestamps = new ArrayList<>();
        for (long milli : millis) {
            for (int nano : nanos) {
                timestamps.add(TimestampData.fromEpochMillis(milli, nano));
            }
        }
        for (int milli : new int[] {1, 10, 100, 120, 123}) {
            timestamps.add(TimestampData.fromEpochMillis(milli));
        }
        return timestamps;
    }

    /**
     * Each control and each odd character or malformed sequence behind and before texts of all lengths around the words and
     * blocks that a fast encoder looks at, and the lengths at which csv begins to quote.
     */
    static List<StringData> strings() {
        List<byte[]> specials = new ArrayList<>();
        for (int c = 0; c <= 0x80; c++) {
            specials.add(Character.toString(c).getBytes(StandardCharsets.UTF_8));
        }
        for (int c : new int[] {0xA0, 0x7FF, 0x800, 0xD7FF, 0xE000, 0x2028, 0x20AC, 0xFEFF, 0xFFFD, 0xFFFF, 0x10000, 0x1F600,
            0x1FFFF, 0xFFFFF, 0x100000, 0x10FFFF}) {
            specials.add(Character.toString(c).getBytes(StandardCharsets.UTF_8));
        }
        specials.addAll(RandomStrings.malformed());
        List<StringData> strings = new ArrayList<>();
        for (byte[] special : specials) {
            for (int length = 0; length <= 34; length++) {
                strings.add(StringData.fromBytes(text("x".repeat(length), special, "")));
            }
            for (int length : new int[] {1, 7, 8, 21, 22, 23, 24, 31, 33, 70, 71, 72}) {
                strings.add(StringData.fromBytes(text("", special, "y".repeat(length))));
            }
        }
        strings.add(StringData.fromString("x\uD83D\uDE00".repeat(3000)));
        return strings;
    }

    private static byte[] text(String before, byte[] special, String after) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(before.getBytes(StandardCharsets.UTF_8));
        out.writeBytes(special);
        out.writeBytes(after.getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    /** A text that one batch holds, but not two: each extent of the comparison then carries one row. */
    static StringData large() {
        return StringData.fromString("0123456789\"\u0001\uD83D\uDE00".repeat(12_000));
    }
}
