package dev.penstock.integration.minicluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.harness.LogCapture;
import dev.penstock.integration.harness.SecuredBroker;
import dev.penstock.integration.harness.SqlJob;
import dev.penstock.integration.judge.TopicContents.RowId;
import dev.penstock.integration.judge.TopicJudge;
import dev.penstock.integration.nexmark.BidSource;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Exactly-once over protected connections, refusals that say what to change, and secrets that nobody finds again. */
@Timeout(240)
class SecurityTest {
    private static final long ROWS = 10_000;
    private static final long RATE = 4_000;
    private static final int FAILURES = 1;
    private static final long MAX_BLOCK_SECONDS = 100;
    /** Every secret of the test bed holds it, in the clear or behind the quote that stands in the password. */
    private static final List<String> PLANTED = List.of("planted", "anted;user", "PRIVATE KEY");

    private static SecuredBroker broker;
    private static LogCapture log;
    private static Bed bed;

    @BeforeAll
    static void open() {
        broker = SecuredBroker.start();
        log = LogCapture.start();
        bed = Bed.open(2);
    }

    @AfterAll
    static void close() {
        if (bed != null) {
            bed.close();
            log.close();
        }
        if (broker != null) {
            broker.close();
        }
    }

    @AfterEach
    void nothingLeftAndNoSecretTold() throws IOException {
        String daemon = Files.readString(bed.daemon().process().log());
        assertTrue(daemon.contains("msg=\"writer opened\"") || daemon.contains("msg=ready"), "this is no log: " + daemon);
        requireNoSecret("the daemon's log", daemon);
        requireNoSecret("the daemon's status", bed.daemon().status().json().toString());
        assertTrue(log.text().contains("PenstockDynamicSink"), "the log of this JVM was not captured");
        requireNoSecret("the log of JobManager, TaskManager and client", log.text());
        bed.requireNothingLeft();
    }

    static Stream<Way> ways() {
        return Stream.of(
                new Way("scram-512", broker.scram("SCRAM-SHA-512", "alice", SecuredBroker.USER_PASSWORD)),
                new Way("mutual", broker.mutual()),
                new Way(SecuredBroker.CAROLS, broker.mutualAsCarol()),
                new Way(SecuredBroker.BOBS, broker.scram("SCRAM-SHA-512", "bob", SecuredBroker.USER_PASSWORD)));
    }

    /** Properties of a client, by name. */
    record Way(String name, Map<String, String> properties) {
        @Override
        public String toString() {
            return name;
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void everyRowOnceThroughAFailure(Way way) {
        String topic = broker.topics().create(way.name(), 2);
        InducedFailures failures = InducedFailures.named(topic, FAILURES);
        SqlJob job = InducedFailures.breakingBids(bed.job(2, 500), topic, ROWS, RATE);

        Bed.finish(job, sink(BidSource.COLUMNS, topic, "exactly-once", way.properties()) + Tables.copyBids());

        assertEquals(0, failures.left(), "failures that did not happen");
        TopicJudge judge = new TopicJudge(broker.bootstrapServers(), RowId.jsonField("auction", 0), false);
        judge.judge(judge.read(topic), ROWS).requireExact(ROWS);
        assertEquals(List.of(), broker.topics().openTransactions(topic));
    }

    /** What must be in the job's failure. */
    record Refusal(String name, String guarantee, Map<String, String> properties, List<String> expected) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Refusal> refusals() {
        Map<String, String> store = scram("alice");
        store.put("ssl.truststore.password", SecuredBroker.WRONG_PASSWORD);
        Map<String, String> absent = scram("alice");
        absent.put("ssl.truststore.location", "/no/such/trust.jks");
        Map<String, String> untrusted = scram("alice");
        untrusted.keySet().removeIf(key -> key.startsWith("ssl.truststore"));
        return Stream.of(
                new Refusal("wrong password", "exactly-once",
                        broker.scram("SCRAM-SHA-512", "alice", SecuredBroker.WRONG_PASSWORD),
                        List.of("properties.sasl.jaas.config")),
                new Refusal("wrong password, at-least-once", "at-least-once",
                        broker.scram("SCRAM-SHA-512", "alice", SecuredBroker.WRONG_PASSWORD),
                        List.of("properties.sasl.jaas.config")),
                new Refusal("wrong password of the trust store", "exactly-once", store, List.of("ssl.truststore.password")),
                new Refusal("no trust store", "exactly-once", absent,
                        List.of("ssl.truststore.location", "/no/such/trust.jks")),
                new Refusal("untrusted broker", "exactly-once", untrusted, List.of("properties.ssl.truststore")),
                new Refusal("untrusted client", "at-least-once", broker.foreign(),
                        List.of("properties.ssl.keystore")));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void theFailureNamesTheProperty(Refusal c) throws IOException {
        String topic = broker.topics().create("refused", 1);
        long start = System.nanoTime();
        String failures = JobFailure.of(bed.job(1, 500),
                Tables.bids(100, 0) + sink("id BIGINT", topic, c.guarantee(), properties(c))
                        + "INSERT INTO sink SELECT auction FROM bids;\n");
        long seconds = (System.nanoTime() - start) / 1_000_000_000;
        for (String word : c.expected()) {
            assertTrue(failures.contains(word), "no \"" + word + "\" in: " + failures);
        }
        assertTrue(seconds < MAX_BLOCK_SECONDS, "final only after " + seconds + " s");
        requireNoSecret("the failure", failures);
    }

    /** What is final does not wait that long. */
    private static Map<String, String> properties(Refusal c) {
        Map<String, String> properties = new HashMap<>(c.properties());
        properties.put("max.block.ms", Long.toString(MAX_BLOCK_SECONDS * 1000));
        return properties;
    }

    /** What bob may not write is final at once, with the right to grant. */
    @Test
    void aMissingRightIsNamed() {
        String topic = broker.topics().create("not-his", 1);
        String failures = failuresOf(topic, SecuredBroker.BOBS + "-id", scram("bob"));
        assertTrue(failures.contains("grant WRITE on the topic"), failures);
        String his = broker.topics().create(SecuredBroker.BOBS, 1);
        failures = failuresOf(his, "not-his-id", scram("bob"));
        assertTrue(failures.contains("grant WRITE on transactional ids"), failures);
    }

    /** Whom a topic is hidden from cannot write it by any client, since nobody tells where its partitions are. */
    @Test
    void aTopicThatMayNotBeDescribedIsRefused() {
        String topic = broker.topics().create(SecuredBroker.HIDDEN, 1);
        Map<String, String> properties = broker.mutualAsCarol();
        String failures = failuresOf(topic, topic, properties);
        assertTrue(failures.contains("grant WRITE on the topic, and do not deny it DESCRIBE"), failures);
        failures = failuresOf(Sink.STOCK, topic, topic, properties);
        assertTrue(failures.contains("TopicAuthorizationException"), failures);
        assertEquals(List.of(), broker.topics().openTransactions(topic));
    }

    private static String failuresOf(String topic, String prefix, Map<String, String> properties) {
        return failuresOf(Sink.PENSTOCK, topic, prefix, properties);
    }

    private static String failuresOf(Sink sink, String topic, String prefix, Map<String, String> properties) {
        return JobFailure.of(bed.job(1, 500),
                Tables.bids(100, 0)
                        + sink(sink, "id BIGINT", topic, "exactly-once", properties)
                                .replace("id-prefix' = '" + topic, "id-prefix' = '" + prefix)
                        + "INSERT INTO sink SELECT auction FROM bids;\n");
    }

    private static Map<String, String> scram(String user) {
        return new HashMap<>(broker.scram("SCRAM-SHA-512", user, SecuredBroker.USER_PASSWORD));
    }

    private static String sink(String columns, String topic, String guarantee, Map<String, String> properties) {
        return sink(Sink.PENSTOCK, columns, topic, guarantee, properties);
    }

    private static String sink(Sink sink, String columns, String topic, String guarantee, Map<String, String> properties) {
        String more = new TreeMap<>(properties).entrySet().stream()
                .map(e -> ", 'properties." + e.getKey() + "' = '" + e.getValue().replace("'", "''") + "'")
                .collect(Collectors.joining());
        return Tables.sink(columns, sink.options(bed.daemonOf(sink)), topic, guarantee, more);
    }

    private static void requireNoSecret(String where, String text) {
        for (String secret : PLANTED) {
            int at = text.indexOf(secret);
            assertFalse(at >= 0, () -> where + " tells a secret: "
                    + text.substring(Math.max(0, at - 300), Math.min(text.length(), at + 100)));
        }
    }
}
