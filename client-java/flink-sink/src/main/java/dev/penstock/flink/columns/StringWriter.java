package dev.penstock.flink.columns;

import dev.penstock.arena.vector.BytesVector;
import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinarySection;
import org.apache.flink.table.data.binary.BinarySegmentUtils;
import org.apache.flink.table.data.binary.BinaryStringData;

/**
 * CHAR and VARCHAR as the bytes they are, valid UTF-8 or not; no padding, no trimming, no length check.
 *
 * <p>A StringData made from a Java String keeps that String, and Flink's formats see it. When it holds a lone surrogate
 * they write what no UTF-8 bytes can express (JSON an escape, CSV an error), so such a row is rejected instead of being
 * written differently.
 */
final class StringWriter extends ColumnWriter {
    private final BytesVector values;
    private byte[] scratch = new byte[256];

    StringWriter(Column column) {
        this(column, new BytesVector(column.type().isNullable()));
    }

    private StringWriter(Column column, BytesVector values) {
        super(column, values);
        this.values = values;
    }

    @Override
    boolean writeValue(RowData row, int field) {
        return append(row.getString(field));
    }

    @Override
    boolean writeValue(ArrayData array, int index) {
        return append(array.getString(index));
    }

    @Override
    boolean writeDirect(BinarySource source, int row, int slot) {
        return BinaryWriter.appendSlot(values, source, row, slot);
    }

    private boolean append(StringData string) {
        if (!(string instanceof BinaryStringData binary)) {
            return append(string.toString());
        }
        BinarySection section = binary.getBinarySection();
        String text = binary.getJavaObject();
        if (section == null) {
            return append(text);
        }
        // Bytes and String may both be there. The bytes count, since the String may be their lossy decoding; but if the
        // String came first, it may hold what the bytes have lost.
        if (text != null) {
            encode(text);
        }
        return append(section);
    }

    private boolean append(BinarySection section) {
        MemorySegment[] segments = section.getSegments();
        int size = section.getSizeInBytes();
        byte[] heap = segments.length == 1 ? segments[0].getHeapMemory() : null;
        if (heap != null) {
            return values.append(heap, section.getOffset(), size);
        }
        reserve(size);
        BinarySegmentUtils.copyToBytes(segments, section.getOffset(), scratch, 0, size);
        return values.append(scratch, 0, size);
    }

    private boolean append(String text) {
        int size = encode(text); // before scratch is read: it may be replaced by a larger one
        return values.append(scratch, 0, size);
    }

    /** Writes the UTF-8 bytes of {@code text} to {@link #scratch} and returns how many. */
    private int encode(String text) {
        int n = text.length();
        reserve(n);
        byte[] out = scratch;
        for (int i = 0; i < n; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                return encodeRest(text, i);
            }
            out[i] = (byte) c;
        }
        return n;
    }

    private int encodeRest(String text, int from) {
        int n = text.length();
        // Three bytes for each char at most: a surrogate pair is two chars and four bytes.
        reserve(from + 3L * (n - from));
        byte[] out = scratch;
        int at = from;
        for (int i = from; i < n; i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                out[at++] = (byte) c;
            } else if (c < 0x800) {
                out[at++] = (byte) (0xc0 | c >> 6);
                out[at++] = (byte) (0x80 | c & 0x3f);
            } else if (!Character.isSurrogate(c)) {
                out[at++] = (byte) (0xe0 | c >> 12);
                out[at++] = (byte) (0x80 | c >> 6 & 0x3f);
                out[at++] = (byte) (0x80 | c & 0x3f);
            } else {
                int codePoint = text.codePointAt(i);
                if (codePoint < Character.MIN_SUPPLEMENTARY_CODE_POINT) {
                    throw new RejectedRowException(path, String.format(
                            "the string has half of a surrogate pair (U+%04X at index %d), which UTF-8 cannot carry;"
                                    + " repair the string before the sink", codePoint, i));
                }
                out[at++] = (byte) (0xf0 | codePoint >> 18);
                out[at++] = (byte) (0x80 | codePoint >> 12 & 0x3f);
                out[at++] = (byte) (0x80 | codePoint >> 6 & 0x3f);
                out[at++] = (byte) (0x80 | codePoint & 0x3f);
                i++;
            }
        }
        return at;
    }

    /** Makes {@link #scratch} hold {@code bytes} bytes and keeps what is in it. */
    private void reserve(long bytes) {
        if (bytes > scratch.length) {
            if (bytes > Integer.MAX_VALUE - 8) {
                throw new RejectedRowException(path, "a string of " + bytes + " bytes is larger than any batch");
            }
            long grown = Math.min(Integer.MAX_VALUE - 8, Math.max(bytes, 2L * scratch.length));
            scratch = Arrays.copyOf(scratch, (int) grown);
        }
    }
}
