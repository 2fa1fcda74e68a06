/**
 * How the connections to the brokers are protected: from the properties of Kafka's Java client to {@link
 * dev.penstock.proto.v1.Security}. What the client itself knows how to read, its JAAS texts and its key stores, is read
 * by the client's own code (kafka.md 5.2, 5.3).
 *
 * <p>Secrets never appear in a message, a log or a {@code toString}, and no cause that may hold one is chained.
 */
package dev.penstock.flink.security;
