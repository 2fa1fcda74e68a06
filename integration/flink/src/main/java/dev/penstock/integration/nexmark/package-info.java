/**
 * Deterministic Nexmark bid rows as a Flink SQL source, the load of the benchmarks and of most end-to-end tests.
 */
package dev.penstock.integration.nexmark;
