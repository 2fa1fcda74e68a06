/** {@code make bundle-check}: Penstock's one jar in Flink's own distribution, in each place where a user may put it. */
package dev.penstock.integration.distribution;
