package dev.penstock.arena.vector;

/** Booleans, one bit each, least significant bit first. */
public final class BitVector extends Vector {
    private int bitsAt;

    /** @param nullable whether nulls may be appended */
    public BitVector(boolean nullable) {
        super(nullable);
    }

    /** Appends a value; false when full. */
    public boolean append(boolean value) {
        if (length >= capacity) {
            return overflow();
        }
        putBit(bitsAt, length, value);
        present();
        return true;
    }

    @Override
    public boolean appendEmpty() {
        return append(false);
    }

    @Override
    Vector[] children() {
        return NONE;
    }

    @Override
    void place(Space space, long elements) {
        placeValidity(space, elements);
        bitsAt = space.take((elements + 7) >>> 3);
    }

    @Override
    int bufferCount() {
        return 2;
    }

    @Override
    void describe(Directory directory) {
        describeNode(directory);
        directory.buffer(bitsAt, (length + 7) >>> 3);
    }
}
