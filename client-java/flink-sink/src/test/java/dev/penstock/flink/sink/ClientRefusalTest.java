package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;

class ClientRefusalTest {

    private static final Properties PRODUCER = new Properties();

    static {
        PRODUCER.put("transaction.timeout.ms", 7200001);
    }

    @Test
    void aRefusalNamesThePropertyOrTheRight() {
        Map<KafkaException, String> refusals =
                Map.of(
                        new SaslAuthenticationException("no"), "properties.sasl.jaas.config",
                        new UnsupportedSaslMechanismException("no"), "properties.sasl.mechanism",
                        new SslAuthenticationException("no"), "properties.ssl.truststore.*",
                        new TransactionalIdAuthorizationException("no"), "grant WRITE on transactional ids with the"
                                + " prefix 'job'");
        refusals.forEach(
                (refusal, expected) -> {
                    KafkaException outer = new KafkaException("error state", refusal);
                    for (KafkaException e : new KafkaException[] {refusal, outer}) {
                        KafkaException explained = ClientRefusal.explain(e, "job", PRODUCER);
                        assertTrue(explained.getMessage().contains(expected), explained.getMessage());
                        assertTrue(explained.getMessage().endsWith(": no"), explained.getMessage());
                        assertSame(e, explained.getCause());
                    }
                });
    }

    @Test
    void aTimeoutAboveTheMaximumIsNamedWithItsValue() {
        // As TransactionManager words it.
        KafkaException e =
                new KafkaException(
                        "Unexpected error in InitProducerIdResponse; " + Errors.INVALID_TRANSACTION_TIMEOUT.message());
        String explained = ClientRefusal.explain(new KafkaException("outer", e), "job", PRODUCER).getMessage();
        assertTrue(explained.startsWith("properties.transaction.timeout.ms = 7200001 is above"), explained);
    }

    @Test
    void everythingElseStaysAsItIs() {
        KafkaException e = new KafkaException(new TimeoutException("later"));
        assertSame(e, ClientRefusal.explain(e, "job", PRODUCER));
    }
}
