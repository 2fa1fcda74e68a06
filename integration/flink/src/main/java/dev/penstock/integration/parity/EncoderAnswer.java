package dev.penstock.integration.parity;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Reads the records out of the encoder's answers; their layout stands in {@code integration/parity/encoder/main.go}. */
final class EncoderAnswer {
    static final char VALUES = 'R';
    static final char RECORDS = 'W';

    private EncoderAnswer() {}

    /**
     * The records of an answer, in the order of the rows.
     *
     * @param answer little-endian, from its kind on
     */
    static WholeRecord[] read(ByteBuffer answer) {
        return answer.get() == VALUES ? values(answer) : records(answer);
    }

    private static WholeRecord[] values(ByteBuffer answer) {
        int n = answer.getInt();
        int table = answer.position();
        answer.position(table + 4 * (n + 1));
        BitSet nulls = BitSet.valueOf(take(answer, answer.getInt()));
        WholeRecord[] records = new WholeRecord[n];
        for (int i = 0; i < n; i++) {
            byte[] value = take(answer, answer.getInt(table + 4 * i + 4) - answer.getInt(table + 4 * i));
            records[i] = WholeRecord.ofValue(nulls.get(i) ? null : value);
        }
        return records;
    }

    private static WholeRecord[] records(ByteBuffer answer) {
        WholeRecord[] records = new WholeRecord[answer.getInt()];
        for (int i = 0; i < records.length; i++) {
            int row = answer.getInt();
            String topic = new String(bytes(answer), StandardCharsets.UTF_8);
            long timestamp = answer.getLong();
            byte[] key = bytes(answer);
            byte[] value = bytes(answer);
            List<byte[]> headers = new ArrayList<>();
            for (int parts = 2 * answer.getInt(); parts > 0; parts--) {
                headers.add(bytes(answer));
            }
            if (records[row] != null) {
                throw new IllegalStateException("row " + row + " has two records");
            }
            records[row] = new WholeRecord(topic, timestamp, key, value, headers);
        }
        return records;
    }

    private static byte[] bytes(ByteBuffer answer) {
        int length = answer.getInt();
        return length < 0 ? null : take(answer, length);
    }

    private static byte[] take(ByteBuffer answer, int length) {
        byte[] taken = new byte[length];
        answer.get(taken);
        return taken;
    }
}
