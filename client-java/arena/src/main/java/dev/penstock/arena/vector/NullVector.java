package dev.penstock.arena.vector;

/** The vector of type NULL: a length and nothing else. */
public final class NullVector extends Vector {
    public NullVector() {
        super(true);
    }

    // Nothing but nulls: there is no bitmap to mark one in.
    @Override
    public boolean appendNull() {
        return appendEmpty();
    }

    @Override
    public boolean appendEmpty() {
        if (length >= capacity) {
            return overflow();
        }
        length++;
        return true;
    }

    @Override
    Vector[] children() {
        return NONE;
    }

    @Override
    void place(Space space, long elements) {
        placeElements(elements);
    }

    @Override
    void truncate(int n) {
        length = n;
    }

    @Override
    int bufferCount() {
        return 0;
    }

    @Override
    void describe(Directory directory) {
        directory.node(length, length);
    }
}
