package dev.penstock.arena;

import java.nio.ByteBuffer;

/**
 * A range inside a leased data segment that holds one batch at a time. Extents are carved by the JVM without asking
 * anyone; an extent belongs to one writer until that writer gives it back.
 *
 * @param segmentId the segment's number in the arena
 * @param segment the whole mapped segment, little-endian; shared by all extents of it, so use absolute access only
 * @param offset where the extent starts in the segment, bytes, a multiple of 64
 * @param capacity the extent's size in bytes, a multiple of 64
 */
public record Extent(int segmentId, ByteBuffer segment, int offset, int capacity) {}
