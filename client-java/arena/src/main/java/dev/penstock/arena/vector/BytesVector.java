package dev.penstock.arena.vector;

import java.nio.ByteBuffer;

/** Strings or binaries: int32 offsets and the bytes as they are. */
public final class BytesVector extends Vector {
    private final Quota quota = new Quota(16, 1);
    private int offsetsAt;
    private int bytesAt;

    /** Bytes that fit; 0 while measuring. */
    private int limit;

    /** Bytes written. */
    private int position;

    /** @param nullable whether nulls may be appended */
    public BytesVector(boolean nullable) {
        super(nullable);
    }

    /** Appends {@code count} bytes of {@code source} from {@code from} on; false when elements or bytes are used up. */
    public boolean append(byte[] source, int from, int count) {
        if (length >= capacity || count > limit - position) {
            return overflow(count);
        }
        buffer.put(bytesAt + position, source, from, count);
        advance(count);
        return true;
    }

    /**
     * Appends up to eight bytes that are already in a register.
     *
     * @param bytes the bytes, first byte in the lowest bits; bits above them are ignored
     * @param count how many of them, 0 to 8
     * @return false when elements or bytes are used up
     */
    public boolean appendWord(long bytes, int count) {
        if (length >= capacity || count > limit - position) {
            return overflow(count);
        }
        // One store of eight bytes; Space leaves room for the surplus, and the next value overwrites it.
        buffer.putLong(bytesAt + position, bytes);
        advance(count);
        return true;
    }

    private void advance(int count) {
        position += count;
        buffer.putInt(offsetsAt + 4 + (length << 2), position);
        present();
    }

    private boolean overflow(int count) {
        if (measuring()) {
            position += count;
        }
        return overflow();
    }

    @Override
    public boolean appendEmpty() {
        return appendWord(0, 0);
    }

    @Override
    Vector[] children() {
        return NONE;
    }

    @Override
    void place(Space space, long elements) {
        placeValidity(space, elements);
        offsetsAt = space.take(4 * (elements + 1));
        long bytes = quota.of(space.rows());
        bytesAt = space.take(bytes + Long.BYTES);
        limit = (int) bytes;
    }

    @Override
    void bind(ByteBuffer segment) {
        super.bind(segment);
        position = 0;
        segment.putInt(offsetsAt, 0);
    }

    @Override
    void reset() {
        super.reset();
        position = 0;
    }

    @Override
    void truncate(int n) {
        position = buffer.getInt(offsetsAt + (n << 2));
        super.truncate(n);
    }

    @Override
    long used() {
        return position;
    }

    @Override
    Quota quota() {
        return quota;
    }

    @Override
    int bufferCount() {
        return 3;
    }

    @Override
    void describe(Directory directory) {
        describeNode(directory);
        directory.buffer(offsetsAt, (length + 1) << 2);
        directory.buffer(bytesAt, position);
    }
}
