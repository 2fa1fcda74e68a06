package dev.penstock.flink.table;

import org.apache.flink.table.types.logical.LogicalType;

/**
 * A metadata column that the table writes.
 *
 * @param key the connector's name of it, for example {@code timestamp}
 * @param type as the connector reads it
 */
record MetadataColumn(String key, LogicalType type) {}
