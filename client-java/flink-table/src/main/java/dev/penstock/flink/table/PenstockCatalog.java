package dev.penstock.flink.table;

import java.util.Optional;
import org.apache.flink.table.catalog.GenericInMemoryCatalog;
import org.apache.flink.table.factories.Factory;

/**
 * Flink's in-memory catalog, whose Kafka tables are native as those of {@link PenstockModule} are. For sessions that cannot load a
 * module. Its temporary tables, and compiled plans that write into it, are stock's: Flink does not ask a catalog for their factories.
 */
public final class PenstockCatalog extends GenericInMemoryCatalog {

    /** Creates an empty catalog with one empty database. */
    public PenstockCatalog(String name, String defaultDatabase) {
        super(name, defaultDatabase);
    }

    @Override
    public Optional<Factory> getFactory() {
        return Optional.of(new SinkRouter());
    }
}
