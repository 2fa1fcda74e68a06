package dev.penstock.flink.columns;

import org.apache.flink.table.types.logical.LogicalType;

/**
 * A node of the row type with its place in it.
 *
 * @param path the column's name for messages
 * @param type the logical type
 */
record Column(String path, LogicalType type) {
    Column field(String name, LogicalType fieldType) {
        return new Column(path.isEmpty() ? name : path + "." + name, fieldType);
    }

    Column part(String suffix, LogicalType partType) {
        return new Column(path + suffix, partType);
    }
}
