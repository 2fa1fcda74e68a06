/**
 * Proves that Penstock's bytes are Flink's bytes: random rows of random types go through Flink's own serializer and, as
 * columns, through the Go encoder, and every record is compared. The encoder runs as a child process
 * ({@code integration/parity/encoder}, built by {@code make build}) that runs exactly the daemon's code.
 */
package dev.penstock.integration.parity;
