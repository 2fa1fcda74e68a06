package dev.penstock.arena.vector;

import java.nio.ByteBuffer;

/**
 * One Arrow array that is being written: a node of the batch's node table and its buffers. Subclasses add the typed
 * appends, each of which writes one element or returns false and changes nothing when the quota is used up.
 *
 * <p>The validity bitmap is not touched before the first null comes, since a column without nulls sends none.
 *
 * <p>A vector made by {@link #measure} stores nothing and only counts, so that one traversal of a row serves both to
 * measure and to write it.
 */
public abstract class Vector {
    /** The children of a vector that has none. */
    static final Vector[] NONE = {};

    /** Whether the vector has room for a validity bitmap. */
    protected final boolean nullable;

    /** The segment that holds the batch; null until {@link #bind}. */
    protected ByteBuffer buffer;

    /** Elements that fit; 0 while measuring, so that every append takes the slow branch. */
    protected int capacity;

    /** Elements written. */
    protected int length;

    private boolean measuring;
    private int nullCount;
    private int validityAt;

    Vector(boolean nullable) {
        this.nullable = nullable;
    }

    /** The number of elements appended so far. */
    public final int length() {
        return length;
    }

    /** Turns this vector and its children for good into a scale that counts elements and bytes but stores nothing. */
    public final void measure() {
        measuring = true;
        for (Vector child : children()) {
            child.measure();
        }
    }

    /**
     * Appends a null.
     *
     * @return false when the vector is full
     * @throws IllegalStateException when the vector is not nullable; the caller knows the column's name and checks
     *     first
     */
    public boolean appendNull() {
        if (!nullable) {
            throw new IllegalStateException("null appended to a vector that is not nullable");
        }
        int i = length;
        if (!appendEmpty()) {
            return false;
        }
        if (i < capacity) {
            if (nullCount == 0) {
                fillValid(i);
            }
            putBit(validityAt, i, false);
            nullCount++;
        }
        return true;
    }

    /**
     * Appends an element that nobody will read: the place of a null, or of a field of a null row.
     *
     * @return false when the vector is full
     */
    public abstract boolean appendEmpty();

    /**
     * The vectors below this one, in node order; nobody changes the array. An array, since loops over it make no
     * garbage.
     */
    abstract Vector[] children();

    /**
     * Takes room for {@code elements} elements and what hangs below them. Called several times with different numbers
     * until the batch fits, so it computes and stores nothing but places.
     */
    abstract void place(Space space, long elements);

    /** How many buffers {@link #describe} adds for this vector itself, its children left out. */
    abstract int bufferCount();

    /** Adds this vector's entries to the tables of the batch; children follow in node order. */
    abstract void describe(Directory directory);

    /**
     * What this vector holds per batch beyond its elements, in the unit of its variable quota: bytes or child elements.
     */
    long used() {
        return 0;
    }

    /** The place where averages of {@link #used} are kept; null for vectors whose size follows from the rows. */
    Quota quota() {
        return null;
    }

    /** Cuts the vector back to its first {@code n} elements. Subclasses cut their variable part first. */
    void truncate(int n) {
        for (int i = n; i < length && nullCount > 0; i++) {
            if ((buffer.get(validityAt + (i >>> 3)) >>> (i & 7) & 1) == 0) {
                nullCount--;
            }
        }
        length = n;
    }

    /** Empties the vector; used between the rows that a scale measures. */
    void reset() {
        length = 0;
        nullCount = 0;
        for (Vector child : children()) {
            child.reset();
        }
    }

    /** Starts writing at the places that the last {@link #place} chose. */
    void bind(ByteBuffer segment) {
        buffer = segment;
        length = 0;
        nullCount = 0;
        for (Vector child : children()) {
            child.bind(segment);
        }
    }

    final void placeValidity(Space space, long elements) {
        placeElements(elements);
        validityAt = space.take(nullable ? (elements + 7) >>> 3 : 0);
    }

    /** Sets the capacity; a scale keeps none, so that every append counts. */
    final void placeElements(long elements) {
        capacity = measuring ? 0 : (int) elements;
    }

    final void describeNode(Directory directory) {
        directory.node(length, nullCount);
        directory.buffer(validityAt, nullCount == 0 ? 0 : (length + 7) >>> 3);
    }

    /** Marks element {@link #length} as present and counts it; the value is already written. */
    protected final void present() {
        int i = length;
        if (nullCount != 0) {
            putBit(validityAt, i, true);
        }
        length = i + 1;
    }

    /** The answer when the quota is used up: count when measuring, else refuse. */
    protected final boolean overflow() {
        if (measuring) {
            length++;
        }
        return measuring;
    }

    /** Whether this vector only counts. */
    protected final boolean measuring() {
        return measuring;
    }

    /** Sets bit {@code i} of a bitmap and clears the bits above it in the same byte: they are not written yet. */
    protected final void putBit(int bitmapAt, int i, boolean bit) {
        int at = bitmapAt + (i >>> 3);
        int mask = 1 << (i & 7);
        int below = buffer.get(at) & (mask - 1);
        buffer.put(at, (byte) (bit ? below | mask : below));
    }

    private void fillValid(int n) {
        for (int at = validityAt, end = validityAt + ((n + 7) >>> 3); at < end; at++) {
            buffer.put(at, (byte) 0xff);
        }
    }
}
