/**
 * The session of one TaskManager JVM with the daemon: the raw socket that carries descriptors and is the life line, the
 * mapped arena, and one gRPC stream for each sink writer. It knows no Flink API except the shaded netty that Flink ships.
 */
package dev.penstock.session;
