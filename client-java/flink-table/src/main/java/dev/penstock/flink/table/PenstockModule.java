package dev.penstock.flink.table;

import java.util.Optional;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.module.Module;

/**
 * Makes the tables of a session native without a change to their DDL: after {@code LOAD MODULE penstock} the sinks of tables
 * that say {@code 'connector' = 'kafka'} or {@code 'upsert-kafka'} are Penstock's. It has neither functions nor sources.
 *
 * <p>The planner asks a catalog's own factory first, then the modules in the order of {@code USE MODULES}, then the service
 * loader (FactoryUtil.createDynamicTableSink); a compiled plan asks modules and service loader (DynamicTableSinkSpec).
 */
public final class PenstockModule implements Module {

    @Override
    public Optional<DynamicTableSinkFactory> getTableSinkFactory() {
        return Optional.of(new SinkRouter());
    }
}
