/**
 * Writers of Arrow vectors into one extent: a {@link dev.penstock.arena.vector.Batch} lays out a fixed quota for every
 * buffer when its first row comes, vectors append with absolute puts, and the first vector that is full closes the
 * batch. Nothing is ever reallocated or moved while rows are appended, and appending makes no garbage.
 *
 * <p>The life of a batch: {@code begin} names the extent, {@code place} lays the buffers out for a measured first row,
 * then one append to every column and one {@code commit} for each row, or {@code rollback} when a column was full, and
 * {@code finish} writes header and tables. The bytes are those of {@code shm/LAYOUT.md}, section Batches.
 *
 * <p>No class here is safe for concurrent use: one writer thread owns a batch until its extent is parked.
 */
package dev.penstock.arena.vector;
