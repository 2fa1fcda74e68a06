package dev.penstock.flink.sink;

import dev.penstock.proto.v1.KafkaConfig;
import java.time.Duration;

/**
 * Bounds of the calls to the daemon. The daemon has the same limits from {@link KafkaConfig} and words its failures
 * better, so each bound leaves it some grace; the bound itself only ends a wait for a daemon that does not answer at
 * all.
 *
 * @param extent waiting for a free extent: what KafkaProducer.send may block ({@code max.block.ms})
 * @param begin opening one transactional id ({@code max.block.ms} covers its initialisation)
 * @param seal flushing everything outstanding ({@code delivery.timeout.ms})
 * @param close ending a stream or aborting an epoch; best effort, so short
 */
record Deadlines(Duration extent, Duration begin, Duration seal, Duration close) {

    private static final Duration GRACE = Duration.ofSeconds(5);

    static Deadlines of(KafkaConfig kafka) {
        Duration block = millis(kafka.getMaxBlockMs()).plus(GRACE);
        Duration delivery = millis(kafka.getDeliveryTimeoutMs()).plus(GRACE);
        return new Deadlines(block, block, delivery, Duration.ofSeconds(10));
    }

    /** The bound of a begin that also initialises the ids of {@code gaps} skipped checkpoints. */
    Duration begin(int gaps) {
        return begin.multipliedBy(1L + gaps);
    }

    private static Duration millis(int unsigned) {
        return Duration.ofMillis(Integer.toUnsignedLong(unsigned));
    }
}
