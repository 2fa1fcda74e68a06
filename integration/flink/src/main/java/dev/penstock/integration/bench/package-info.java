/**
 * Benchmarks of whole jobs on real parts, stock and Penstock alternating in one run.
 */
package dev.penstock.integration.bench;
