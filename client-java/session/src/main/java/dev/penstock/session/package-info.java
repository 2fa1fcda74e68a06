/**
 * The session of one TaskManager JVM with the daemon. It knows no Flink API except the shaded netty that Flink ships.
 *
 * <p>Files, in the order of a batch's life: {@link dev.penstock.session.DaemonSession} (opened through the registry;
 * raw socket, handshake, mapped segments, the keeper thread that watches the life line),
 * {@link dev.penstock.session.WriterStream} (one gRPC stream for each sink writer), and behind it the extent pool
 * (which range is free) and the credit window (what the daemon may still read). Every fault leaves as a
 * {@link dev.penstock.session.DaemonException} whose kind names the next action.
 *
 * <p>Who runs what: task threads open, fill, park and wait; the keeper thread alone uses the session socket, leases,
 * collects for idle writers and unmaps; gRPC's event loop delivers events and never blocks.
 */
package dev.penstock.session;
