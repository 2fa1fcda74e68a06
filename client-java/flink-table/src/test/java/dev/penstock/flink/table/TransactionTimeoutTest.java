package dev.penstock.flink.table;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Properties;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.junit.jupiter.api.Test;

class TransactionTimeoutTest {

    private static CheckpointConfig checkpoints(Duration interval, Duration timeout) {
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        configuration.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, timeout);
        return new CheckpointConfig(configuration);
    }

    private static Properties timeout(Object value) {
        Properties properties = new Properties();
        properties.put("transaction.timeout.ms", value);
        return properties;
    }

    @Test
    void allNumbersAreNamed() {
        String warning =
                TransactionTimeout.warning(
                                timeout("600000"), checkpoints(Duration.ofSeconds(30), Duration.ofMinutes(10)))
                        .orElseThrow();
        assertTrue(warning.startsWith("properties.transaction.timeout.ms = 600000 is not above"), warning);
        assertTrue(warning.contains("interval = 30000 ms") && warning.contains("timeout = 600000 ms"), warning);
    }

    @Test
    void enoughIsSilent() {
        CheckpointConfig checkpoints = checkpoints(Duration.ofSeconds(30), Duration.ofMinutes(10));
        assertTrue(TransactionTimeout.warning(timeout(630_001), checkpoints).isEmpty());
        assertTrue(TransactionTimeout.warning(timeout(630_000), checkpoints).isPresent());
        assertTrue(TransactionTimeout.warning(new Properties(), checkpoints).isEmpty(), "Flink's own hour");
    }

    @Test
    void withoutCheckpointsThereIsNothingToCompare() {
        assertTrue(
                TransactionTimeout.warning(timeout(1000), new CheckpointConfig(new Configuration())).isEmpty());
    }
}
