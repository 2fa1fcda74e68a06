package dev.penstock.integration.parity;

import java.util.OptionalInt;

/**
 * The ids that a schema registry gave to the schemas of one table.
 *
 * @param key empty when the key's format has no registry, or there is no key
 * @param value empty when the value's format has no registry
 */
record SchemaNumbers(OptionalInt key, OptionalInt value) {}
