package dev.penstock.arena.vector;

/** Values of 1, 2, 4, 8 or 16 bytes, little-endian. The append that is called must be the one of the vector's width. */
public final class FixedVector extends Vector {
    private final int width;
    private int valuesAt;

    /**
     * @param width bytes of one value: 1, 2, 4, 8 or 16
     * @param nullable whether nulls may be appended
     */
    public FixedVector(int width, boolean nullable) {
        super(nullable);
        if (width < 1 || width > 16 || Integer.bitCount(width) != 1) {
            throw new IllegalArgumentException("a value of " + width + " bytes has no vector; 1, 2, 4, 8 and 16 have");
        }
        this.width = width;
    }

    /** Appends a value of width 1; false when full. */
    public boolean append(byte value) {
        int i = length;
        if (i >= capacity) {
            return overflow();
        }
        buffer.put(valuesAt + i, value);
        present();
        return true;
    }

    /** Appends a value of width 2; false when full. */
    public boolean append(short value) {
        int i = length;
        if (i >= capacity) {
            return overflow();
        }
        buffer.putShort(valuesAt + (i << 1), value);
        present();
        return true;
    }

    /** Appends a value of width 4; false when full. */
    public boolean append(int value) {
        int i = length;
        if (i >= capacity) {
            return overflow();
        }
        buffer.putInt(valuesAt + (i << 2), value);
        present();
        return true;
    }

    /** Appends a value of width 8; false when full. */
    public boolean append(long value) {
        int i = length;
        if (i >= capacity) {
            return overflow();
        }
        buffer.putLong(valuesAt + (i << 3), value);
        present();
        return true;
    }

    /** Appends a value of width 16, two's complement; false when full. */
    public boolean append(long low, long high) {
        int i = length;
        if (i >= capacity) {
            return overflow();
        }
        int at = valuesAt + (i << 4);
        buffer.putLong(at, low);
        buffer.putLong(at + 8, high);
        present();
        return true;
    }

    // Zero rather than what an earlier batch left in the extent: equal rows then give equal batches.
    @Override
    public boolean appendEmpty() {
        return switch (width) {
            case 1 -> append((byte) 0);
            case 2 -> append((short) 0);
            case 4 -> append(0);
            case 8 -> append(0L);
            default -> append(0L, 0L);
        };
    }

    @Override
    Vector[] children() {
        return NONE;
    }

    @Override
    void place(Space space, long elements) {
        placeValidity(space, elements);
        valuesAt = space.take(elements * width);
    }

    @Override
    int bufferCount() {
        return 2;
    }

    @Override
    void describe(Directory directory) {
        describeNode(directory);
        directory.buffer(valuesAt, length * width);
    }
}
