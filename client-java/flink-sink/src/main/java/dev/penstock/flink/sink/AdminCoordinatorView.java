package dev.penstock.flink.sink;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTransactionsOptions;
import org.apache.kafka.clients.admin.DescribeTransactionsResult;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks by Kafka's Admin client with the properties of the sink's producers, so that whoever may commit may ask. The
 * client lives for one question only: this is rare, and idle connections would stay for the life of the job.
 */
final class AdminCoordinatorView implements CoordinatorView {

    private static final Logger LOG = LoggerFactory.getLogger(AdminCoordinatorView.class);

    private final Properties producerProperties;
    private final Duration timeout;

    /**
     * Keeps the properties; connects when asked.
     *
     * @param timeout bound of one question about all ids together
     */
    AdminCoordinatorView(Properties producerProperties, Duration timeout) {
        this.producerProperties = producerProperties;
        this.timeout = timeout;
    }

    @Override
    public Map<String, TransactionDescription> describe(Collection<String> ids) throws InterruptedException {
        Map<String, TransactionDescription> found = new HashMap<>();
        Admin admin;
        try {
            admin = Admin.create(adminProperties());
        } catch (KafkaException e) {
            LOG.warn("Could not ask what became of transactions {}.", ids, e);
            return found;
        }
        try {
            ask(admin, ids, found);
        } finally {
            admin.close(Duration.ZERO);
        }
        return found;
    }

    private void ask(Admin admin, Collection<String> ids, Map<String, TransactionDescription> found)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        DescribeTransactionsResult result =
                admin.describeTransactions(
                        ids, new DescribeTransactionsOptions().timeoutMs((int) timeout.toMillis()));
        for (String id : ids) {
            try {
                found.put(
                        id,
                        result.description(id).get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
            } catch (ExecutionException | TimeoutException e) {
                LOG.warn("The coordinator does not tell what became of transaction {}.", id, e);
            }
        }
    }

    private Properties adminProperties() {
        Properties properties = new Properties();
        properties.putAll(producerProperties);
        // Or the beans of the producer's metrics would be in the way.
        properties.merge(
                CommonClientConfigs.CLIENT_ID_CONFIG, "penstock-commit-inquiry", (id, own) -> id + "-" + own);
        return properties;
    }
}
