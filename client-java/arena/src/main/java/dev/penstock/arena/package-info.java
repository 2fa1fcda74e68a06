/**
 * The JVM's side of Penstock's shared memory: layout constants, mapped segments, handle slots and the writers of Arrow
 * vectors. It knows neither Flink nor gRPC. The layout is that of {@code shm/LAYOUT.md}; a test compares every constant
 * with {@code shm/testdata/layout.golden}.
 */
package dev.penstock.arena;
