package dev.penstock.integration.distribution;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.penstock.integration.harness.SecuredBroker;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.nexmark.messages.Auction;
import java.util.Map;
import java.util.stream.Collectors;

/** What the job of a {@link Layout} does: each kind needs other classes of Penstock's jar and of the jars beside it. */
enum Work {
    JSON("id", "'format' = 'json'"),
    /** A SCRAM login over TLS, with a trust store that the TaskManager opens by the Kafka client's own classes. */
    JSON_BY_TLS("id", "'format' = 'json'"),
    /** The messages' classes are the user's; Penstock's jar has a protobuf-java of its own under another name. */
    PROTOBUF("auction", "'format' = 'protobuf', 'protobuf.message-class-name' = '" + Auction.Bid.class.getName() + "'");

    private static final String SHADED = "org.apache.flink.kafka.shaded.";

    private final String id;
    private final String format;

    Work(String id, String format) {
        this.id = id;
        this.format = format;
    }

    /** The columns of the sink: a number from 0 on, and a text. */
    String columns() {
        return id + " BIGINT, extra STRING";
    }

    /**
     * The options of the sink that say how and where to.
     *
     * @param shaded whether the Kafka client's classes have the names that flink-sql-connector-kafka gives them
     */
    String options(SecuredBroker broker, boolean shaded) {
        Map<String, String> properties = this == JSON_BY_TLS
                ? broker.scram("SCRAM-SHA-512", "alice", SecuredBroker.USER_PASSWORD)
                : Map.of("bootstrap.servers", broker.bootstrapServers());
        String prefix = shaded ? SHADED : "";
        return format + properties.entrySet().stream()
                .map(property -> ", 'properties." + property.getKey() + "' = '"
                        + property.getValue().replace("'", "''").replace("org.apache.kafka.", prefix + "org.apache.kafka.") + "'")
                .collect(Collectors.joining());
    }

    /** Where the number stands in a record. */
    RowId rowId() {
        return this == PROTOBUF ? Work::auction : RowId.jsonField(id, 0);
    }

    private static long auction(byte[] value) {
        try {
            return Auction.Bid.parseFrom(value).getAuction();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException("no bid of protobuf", e);
        }
    }
}
