/** The {@code penstock-kafka} table factory: stock parsing and validation, then native or stock with a reason. */
package dev.penstock.flink.table;
