package dev.penstock.integration.minicluster;

import dev.penstock.integration.nexmark.BidSource;
import java.util.List;

/** The SQL that most tests share: bids in, one Kafka table out. */
final class Tables {
    /** The columns of {@link #GROUPS}. */
    static final String GROUP_COLUMNS =
            "bidders BIGINT, bids BIGINT, top DECIMAL(20, 2), latest TIMESTAMP(3), channel STRING";

    /** Groups that grow, each of which is deleted when it has 60 bids: all row kinds. The first column is the key. */
    static final String GROUPS = "SELECT MOD(auction, 40), COUNT(*), MAX(CAST(price AS DECIMAL(20, 2))),"
            + " MAX(`dateTime`), MAX(channel) FROM bids GROUP BY MOD(auction, 40) HAVING COUNT(*) < 60";

    private Tables() {}

    static String bids(long rows, long rate) {
        return "CREATE TEMPORARY TABLE bids (" + BidSource.COLUMNS + ") WITH ('connector' = 'penstock-bids', 'rows' = '"
                + rows + "', 'rate' = '" + rate + "');\n";
    }

    /**
     * A Kafka table named sink with the columns of a bid.
     *
     * @param options the beginning of its WITH clause, see {@link Sink#options}
     * @param more further options, each with a comma in front, or ""
     */
    static String sink(String columns, String options, String topic, String guarantee, String more) {
        return sink(columns, options, topic, guarantee, "json", more);
    }

    /** As above in another value format. */
    static String sink(
            String columns, String options, String topic, String guarantee, String format, String more) {
        return "CREATE TEMPORARY TABLE sink (" + columns + ") WITH (" + options
                + ", 'topic' = '" + topic + "'"
                + (more.contains("bootstrap.servers")
                        ? "" : ", 'properties.bootstrap.servers' = '" + Bed.broker().bootstrapServers() + "'")
                + ", 'format' = '" + format + "'"
                + ", 'sink.delivery-guarantee' = '" + guarantee + "'"
                + (guarantee.equals("exactly-once") ? ", 'sink.transactional-id-prefix' = '" + topic + "'" : "")
                + more + ");\n";
    }

    /**
     * A Kafka table named sink that writes exactly once and whose formats stand in its options.
     *
     * @param connector the beginning of its WITH clause, see {@link Sink#options} and {@link Sink#upsertOptions}
     */
    static String sinkOfTopics(String columns, String connector, List<String> topics, String options) {
        return "CREATE TEMPORARY TABLE sink (" + columns + ") WITH (" + connector
                + ", 'topic' = '" + String.join(";", topics)
                + "', 'properties.bootstrap.servers' = '" + Bed.broker().bootstrapServers()
                + "', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '" + topics.get(0)
                + "', " + options + ");\n";
    }

    static String bidSink(String options, String topic, String guarantee) {
        return sink(BidSource.COLUMNS, options, topic, guarantee, "");
    }

    static String copyBids() {
        return "INSERT INTO sink SELECT * FROM bids;\n";
    }
}
