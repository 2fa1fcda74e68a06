package dev.penstock.flink.sink;

import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.apache.kafka.common.protocol.Errors;

/**
 * A broker has refused the Kafka client of this process for good. The client's own texts say what happened, but neither
 * property nor right; the daemon, which words both, is asked after this client.
 */
final class ClientRefusal {

    private ClientRefusal() {}

    /** An exception that says what to change, or {@code e} itself when that is not known. */
    static KafkaException explain(KafkaException e, String transactionalIdPrefix, Properties producer) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            String remedy = remedy(t, transactionalIdPrefix, producer);
            if (remedy != null) {
                return new KafkaException(remedy + ": " + t.getMessage(), e);
            }
        }
        return e;
    }

    private static String remedy(Throwable t, String prefix, Properties producer) {
        if (t instanceof SaslAuthenticationException) {
            return "the broker refuses the login: correct properties.sasl.jaas.config";
        }
        if (t instanceof UnsupportedSaslMechanismException) {
            return "the broker does not offer the mechanism: correct properties.sasl.mechanism";
        }
        if (t instanceof SslAuthenticationException) {
            return "broker and client do not accept each other's certificates: look at properties.ssl.truststore.* and"
                    + " properties.ssl.keystore.*, and at the certificate of the broker";
        }
        if (refusesTimeout(t)) {
            return "properties.transaction.timeout.ms = "
                    + producer.get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG)
                    + " is above transaction.max.timeout.ms of the broker (15 minutes = 900000 by default): lower the"
                    + " property, but not below execution.checkpointing.interval plus execution.checkpointing.timeout,"
                    + " or raise the maximum on the broker";
        }
        if (t instanceof TransactionalIdAuthorizationException) {
            return "the user may not use these transactional ids: grant WRITE on transactional ids with the prefix '"
                    + prefix + "' of sink.transactional-id-prefix";
        }
        return null;
    }

    /** The Kafka client has no exception of its own for this answer and puts only the text of it into its message. */
    private static boolean refusesTimeout(Throwable t) {
        return t.getMessage() != null && t.getMessage().contains(Errors.INVALID_TRANSACTION_TIMEOUT.message());
    }
}
