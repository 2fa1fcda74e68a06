/**
 * The table factories {@code penstock-kafka} and {@code penstock-upsert-kafka}: stock parsing and validation, then
 * native or stock with a reason.
 */
package dev.penstock.flink.table;
