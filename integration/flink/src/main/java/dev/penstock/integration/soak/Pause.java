package dev.penstock.integration.soak;

/** A pause that belongs to the history, not a wait for something. */
final class Pause {
    private Pause() {}

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
