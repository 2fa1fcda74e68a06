package dev.penstock.integration.parity;

import org.apache.flink.table.types.logical.RowType;

/**
 * A random table.
 *
 * @param type of its rows
 * @param options of its value format
 */
record ParityTable(RowType type, FormatOptions options) {}
