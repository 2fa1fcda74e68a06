package dev.penstock.arena.vector;

import java.nio.ByteBuffer;

/**
 * Arrays and maps: int32 offsets into one child. The caller appends the elements to the child, then {@link #append()},
 * which takes everything that the child has got since the last element of this vector.
 */
public final class ListVector extends Vector {
    private final Quota quota = new Quota(1, 0.125);
    private final Vector child;
    private final Vector[] children;
    private int offsetsAt;

    /**
     * @param child the elements; a struct of key and value for a map
     * @param nullable whether nulls may be appended
     */
    public ListVector(Vector child, boolean nullable) {
        super(nullable);
        this.child = child;
        this.children = new Vector[] {child};
    }

    /** Ends a list whose elements the caller has appended to the child; false when full. */
    public boolean append() {
        if (length >= capacity) {
            return overflow();
        }
        buffer.putInt(offsetsAt + 4 + (length << 2), child.length());
        present();
        return true;
    }

    @Override
    public boolean appendEmpty() {
        return append();
    }

    @Override
    Vector[] children() {
        return children;
    }

    @Override
    void place(Space space, long elements) {
        placeValidity(space, elements);
        offsetsAt = space.take(4 * (elements + 1));
        child.place(space, quota.of(space.rows()));
    }

    @Override
    void bind(ByteBuffer segment) {
        super.bind(segment);
        segment.putInt(offsetsAt, 0);
    }

    // Also when this vector keeps all its elements: elements of a list that was never ended must go.
    @Override
    void truncate(int n) {
        child.truncate(buffer.getInt(offsetsAt + (n << 2)));
        super.truncate(n);
    }

    @Override
    long used() {
        return child.length();
    }

    @Override
    Quota quota() {
        return quota;
    }

    @Override
    int bufferCount() {
        return 2;
    }

    @Override
    void describe(Directory directory) {
        describeNode(directory);
        directory.buffer(offsetsAt, (length + 1) << 2);
        child.describe(directory);
    }
}
