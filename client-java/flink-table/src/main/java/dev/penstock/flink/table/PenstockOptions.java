package dev.penstock.flink.table;

import dev.penstock.flink.sink.FallbackMode;
import dev.penstock.flink.sink.WriterSettings;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;

/** The options that Penstock's connectors have beside those of the stock ones. */
public final class PenstockOptions {

    /** Whether to write natively at all. */
    public static final ConfigOption<Boolean> ENABLED =
            ConfigOptions.key("penstock.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription("Write through penstockd where that is possible; false uses the stock sink.");

    /** What happens when Penstock cannot do the job. */
    public static final ConfigOption<FallbackMode> FALLBACK =
            ConfigOptions.key("penstock.fallback")
                    .enumType(FallbackMode.class)
                    .defaultValue(FallbackMode.STOCK)
                    .withDescription(
                            "What happens when Penstock cannot do the job, at planning time or when the daemon cannot"
                                    + " be reached: 'stock' uses the stock sink and says why, 'fail' fails with the"
                                    + " reason.");

    /** The folder of the daemon's sockets. No default here, so that the TaskManager's environment can name one. */
    public static final ConfigOption<String> SOCKET_DIR =
            ConfigOptions.key("penstock.socket-dir")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Folder of the daemon's sockets on the TaskManagers. Unset: the environment variable "
                                    + WriterSettings.SOCKET_DIRECTORY_VARIABLE
                                    + " of the TaskManager, else "
                                    + WriterSettings.DEFAULT_SOCKET_DIRECTORY
                                    + ".");

    /**
     * How long a row waits for its batch to fill. Twice stock's producer linger: the batch goes through one more
     * hand-over, and 100 hand-overs a second for an almost idle writer cost nothing that shows.
     */
    public static final ConfigOption<Duration> LINGER =
            ConfigOptions.key("penstock.linger")
                    .durationType()
                    .defaultValue(Duration.ofMillis(10))
                    .withDescription("The longest time that a row waits for its batch to fill.");

    /** The most rows of one batch. */
    public static final ConfigOption<Integer> BATCH_ROWS =
            ConfigOptions.key("penstock.batch.rows")
                    .intType()
                    .defaultValue(16384)
                    .withDescription("The most rows of one batch; a batch is also full by bytes.");

    /** Bound of connecting to the daemon. */
    public static final ConfigOption<Duration> CONNECT_TIMEOUT =
            ConfigOptions.key("penstock.connect-timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withDescription("How long a task waits for the daemon's answer when it starts.");

    /** Whether the next epoch's producer is prepared ahead. */
    public static final ConfigOption<Boolean> WARM_POOL =
            ConfigOptions.key("penstock.warm-pool")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Prepare the producer of the next transaction ahead. Switching it off is for measurements:"
                                    + " it adds the initialisation of a transaction to every checkpoint.");

    private PenstockOptions() {}

    /** The options of a stock connector and those of this class. */
    static Set<ConfigOption<?>> with(Set<ConfigOption<?>> stock) {
        Set<ConfigOption<?>> options = new HashSet<>(stock);
        options.addAll(Set.of(ENABLED, FALLBACK, SOCKET_DIR, LINGER, BATCH_ROWS, CONNECT_TIMEOUT, WARM_POOL));
        return options;
    }

    /** Checks the values and makes the writers' settings of them. */
    static WriterSettings settings(ReadableConfig options) {
        int rows = options.get(BATCH_ROWS);
        if (rows < 1) {
            throw invalid(BATCH_ROWS, rows, "at least 1");
        }
        return new WriterSettings(
                options.get(FALLBACK),
                options.get(SOCKET_DIR),
                positive(options, CONNECT_TIMEOUT),
                positive(options, LINGER),
                rows,
                options.get(WARM_POOL));
    }

    private static Duration positive(ReadableConfig options, ConfigOption<Duration> option) {
        Duration value = options.get(option);
        if (value.toMillis() < 1) {
            throw invalid(option, value, "at least 1 ms");
        }
        return value;
    }

    private static ValidationException invalid(ConfigOption<?> option, Object value, String wanted) {
        return new ValidationException(
                String.format("Option '%s' is '%s'; it must be %s.", option.key(), value, wanted));
    }
}
