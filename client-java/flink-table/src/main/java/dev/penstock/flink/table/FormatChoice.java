package dev.penstock.flink.table;

import java.util.Map;

/**
 * A format that a table names for one part of its records.
 *
 * @param part {@code value} or {@code key}; for reasons
 * @param identifier the format's identifier, empty when the table names none
 * @param options the options of this instance alone, without their prefix: a key's never come from a value's
 */
record FormatChoice(String part, String identifier, Map<String, String> options) {}
