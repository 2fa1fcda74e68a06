package dev.penstock.integration.harness;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.KafkaFuture;

/**
 * Topics and transactions of a broker. Topics are created before a job writes to them: auto-creation inside a
 * transaction makes the Java client log warnings that look like faults.
 */
public final class Topics implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final Admin admin;

    /** Connects lazily; thread safe. */
    public Topics(String bootstrapServers) {
        admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers));
    }

    /** Creates a topic whose name starts with the given words and was not used before; returns its name. */
    public String create(String words, int partitions, Map<String, String> settings) {
        String name = words + "-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
        get("create topic " + name, admin.createTopics(
                List.of(new NewTopic(name, partitions, (short) 1).configs(settings))).all());
        return name;
    }

    /** As above with the broker's own settings. */
    public String create(String words, int partitions) {
        return create(words, partitions, Map.of());
    }

    /** Ids with this prefix whose transaction is open or being ended; nothing may remain of them after a job. */
    public List<String> openTransactions(String prefix) {
        return get("list transactions", admin.listTransactions().all()).stream()
                .filter(t -> t.transactionalId().startsWith(prefix))
                .filter(t -> t.state() != TransactionState.EMPTY && t.state() != TransactionState.COMPLETE_COMMIT
                        && t.state() != TransactionState.COMPLETE_ABORT && t.state() != TransactionState.UNKNOWN)
                .map(t -> t.transactionalId() + " " + t.state())
                .toList();
    }

    /** The transactional ids with this prefix that the coordinators still know. */
    public List<String> ids(String prefix) {
        return get("list transactions", admin.listTransactions().all()).stream()
                .map(TransactionListing::transactionalId).filter(id -> id.startsWith(prefix)).toList();
    }

    /** State of one transactional id as the coordinator tells it. */
    public TransactionState transactionState(String id) {
        return get("describe " + id, admin.describeTransactions(List.of(id)).description(id)).state();
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(TIMEOUT_SECONDS));
    }

    private static <T> T get(String what, KafkaFuture<T> future) {
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + what, e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("cannot " + what, e);
        }
    }
}
