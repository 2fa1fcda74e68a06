/** Penstock's one jar in Flink's own distribution: in each place where a user may put it, and as its web UI shows it. */
package dev.penstock.integration.distribution;
