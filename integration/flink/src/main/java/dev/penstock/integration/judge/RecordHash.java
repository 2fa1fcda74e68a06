package dev.penstock.integration.judge;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * 128 bits that stand for everything of a record that two sinks must agree on: key, value, headers in their order, and
 * the timestamp's type; the timestamp itself only where the table writes it. Absent and empty differ.
 */
record RecordHash(long high, long low) {
    private static final ThreadLocal<MessageDigest> DIGEST = ThreadLocal.withInitial(RecordHash::newDigest);

    static RecordHash of(ConsumerRecord<byte[], byte[]> record, boolean withTimestamp) {
        MessageDigest digest = DIGEST.get();
        digest.reset();
        add(digest, record.key());
        add(digest, record.value());
        for (Header header : record.headers()) {
            add(digest, header.key().getBytes(StandardCharsets.UTF_8));
            add(digest, header.value());
        }
        digest.update((byte) record.timestampType().id);
        if (withTimestamp) {
            digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, record.timestamp()));
        }
        ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
        return new RecordHash(bytes.getLong(), bytes.getLong());
    }

    private static void add(MessageDigest digest, byte[] part) {
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part == null ? -1 : part.length));
        if (part != null) {
            digest.update(part);
        }
    }

    private static MessageDigest newDigest() {
        try {
            // Against accidents, not against an attacker; half a SHA-256 is plenty.
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
