package dev.penstock.arena.vector;

import java.util.List;

/**
 * Rows inside rows, entries of maps, and the two parts of timestamps. The caller appends one element to every child,
 * then {@link #append()}; for a null it calls {@link #appendNull()} alone, which fills the children.
 */
public final class StructVector extends Vector {
    private final Vector[] children;

    /**
     * @param children the fields, in order
     * @param nullable whether nulls may be appended
     */
    public StructVector(List<? extends Vector> children, boolean nullable) {
        super(nullable);
        this.children = children.toArray(NONE);
    }

    /** Ends an element whose fields the caller has appended to the children; false when full. */
    public boolean append() {
        if (length >= capacity) {
            return overflow();
        }
        present();
        return true;
    }

    @Override
    public boolean appendEmpty() {
        for (Vector child : children) {
            if (!child.appendEmpty()) {
                return false;
            }
        }
        return append();
    }

    @Override
    Vector[] children() {
        return children;
    }

    @Override
    void place(Space space, long elements) {
        placeValidity(space, elements);
        for (Vector child : children) {
            child.place(space, elements);
        }
    }

    @Override
    void truncate(int n) {
        super.truncate(n);
        for (Vector child : children) {
            child.truncate(n);
        }
    }

    @Override
    int bufferCount() {
        return 1;
    }

    @Override
    void describe(Directory directory) {
        describeNode(directory);
        for (Vector child : children) {
            child.describe(directory);
        }
    }
}
