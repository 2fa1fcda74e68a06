package dev.penstock.flink.sink;

import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.admin.TransactionDescription;

/** What transaction coordinators say of transactional ids. */
interface CoordinatorView {

    /**
     * Asks once, within a bound; ids about which there is no answer are missing.
     *
     * @throws InterruptedException when the task is cancelled meanwhile
     */
    Map<String, TransactionDescription> describe(Collection<String> ids) throws InterruptedException;
}
