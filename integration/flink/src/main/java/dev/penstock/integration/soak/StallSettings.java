package dev.penstock.integration.soak;

/**
 * How a broker stalls, and what daemon and job are told about it.
 *
 * @param seconds how long the broker stands still
 * @param spill the daemon's {@code spill.mode}, "off" or "bounded"
 * @param timeout bound in seconds of every step that waits for the broker. Above the stall, nothing may fail; below it, the
 *     job must be restarted
 */
record StallSettings(int seconds, String spill, int timeout) {
    /** Reached by a stall of a minute at the rate of {@link StalledBroker}. */
    static final long QUOTA_BYTES = 64 << 20;

    /** From the system properties stall.seconds (60), stall.spill (off) and stall.timeout (two stalls and a minute). */
    static StallSettings fromProperties() {
        int seconds = Integer.getInteger("stall.seconds", 60);
        return new StallSettings(seconds, System.getProperty("stall.spill", "off"),
                Integer.getInteger("stall.timeout", 2 * seconds + 60));
    }

    /** Says what is wrong; "" when nothing is. */
    String fault() {
        if (seconds < 5) {
            return "SECONDS=" + seconds + " is not usable: at least 5, to fill the credit";
        }
        if (!spill.equals("off") && !spill.equals("bounded")) {
            return "SPILL=" + spill + " is not usable: off or bounded";
        }
        // In between the machine's scheduler decides.
        if (timeout < 5 || timeout > seconds / 2 && timeout < seconds + 30) {
            return "TIMEOUT=" + timeout + " is not usable: 5 to half of SECONDS to see the job restarted, or 30 more than SECONDS";
        }
        return "";
    }

    boolean spills() {
        return spill.equals("bounded");
    }

    /** The stall outlasts the timeouts. */
    boolean restarts() {
        return timeout < seconds;
    }

    /**
     * Of the checkpoints. A barrier waits for the broker, and so does the commit behind it, both on the task's thread: to see a
     * writer park what it may, or the disk take it, the stall must come between two of them. It comes before the first.
     */
    int intervalSeconds() {
        return seconds + 30;
    }

    /** {@code properties.delivery.timeout.ms}: only the daemon's own steps are told to be shorter than the stall. */
    int deliveryMillis() {
        return 1_000 * Math.max(timeout, 120);
    }

    /** Sections of the daemon's configuration; files of the spill go to {@code folder}. */
    String daemon(Object folder) {
        return """
                [writer]
                init_timeout = "%1$ds"
                produce_timeout = "%1$ds"
                seal_timeout = "%2$ds"
                [spill]
                mode = "%3$s"
                directory = "%4$s"
                quota = "%5$d"
                """.formatted(timeout, deliveryMillis() / 1_000 + 30, spill, folder, QUOTA_BYTES);
    }
}
