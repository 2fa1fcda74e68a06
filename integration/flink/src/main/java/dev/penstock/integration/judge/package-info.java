/**
 * Proves what a topic holds: reads whole topics as a read_committed consumer and compares them record by record
 * with what stock Flink wrote.
 */
package dev.penstock.integration.judge;
