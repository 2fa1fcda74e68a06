package dev.penstock.arena;

/**
 * The 64-bit state word of a slot: {@code generation (32 bits, high) | state (8) | owner (24, low)}. Legal moves stand
 * in {@code shm/LAYOUT.md}; this class only packs and unpacks.
 */
public final class StateWord {
    private static final int OWNER_MASK = (1 << Layout.STATE_OWNER_BITS) - 1;
    private static final int STATE_MASK = (1 << Layout.STATE_STATE_BITS) - 1;
    private static final int GENERATION_SHIFT = Layout.STATE_OWNER_BITS + Layout.STATE_STATE_BITS;
    private static final long GENERATION_MASK = (1L << Layout.STATE_GENERATION_BITS) - 1;

    private StateWord() {}

    /**
     * Packs a word.
     *
     * @param generation taken modulo 2^32, so that {@code generation + 1} wraps as it does on the Go side
     * @param state one of the {@code Layout.STATE_*} numbers
     * @param owner 0 for the daemon and for FREE, else a session id below 2^24
     */
    public static long of(long generation, int state, int owner) {
        return (generation & GENERATION_MASK) << GENERATION_SHIFT
                | (long) (state & STATE_MASK) << Layout.STATE_OWNER_BITS
                | (owner & OWNER_MASK);
    }

    /** The generation, 0 to 2^32 - 1. */
    public static long generation(long word) {
        return word >>> GENERATION_SHIFT;
    }

    /** The state, one of {@code Layout.STATE_*} unless the word is damaged. */
    public static int state(long word) {
        return (int) (word >>> Layout.STATE_OWNER_BITS) & STATE_MASK;
    }

    /** The owner, 0 to 2^24 - 1. */
    public static int owner(long word) {
        return (int) word & OWNER_MASK;
    }

    /** The word for a message: {@code PARKED generation 7 owner 3}. */
    public static String describe(long word) {
        String state = switch (state(word)) {
            case Layout.STATE_FREE -> "FREE";
            case Layout.STATE_RESERVED -> "RESERVED";
            case Layout.STATE_PARKED -> "PARKED";
            case Layout.STATE_CLAIMED -> "CLAIMED";
            case Layout.STATE_SPILLING -> "SPILLING";
            case Layout.STATE_ON_DISK -> "ON_DISK";
            default -> "state " + state(word);
        };
        return state + " generation " + generation(word) + " owner " + owner(word);
    }
}
