package dev.penstock.arena.vector;

import dev.penstock.arena.Layout;
import java.nio.ByteBuffer;

/**
 * The node table and the buffer table of a batch, written as the vectors describe themselves in node order. Buffers
 * come in ascending place; when compacting, each moves down to the first free multiple of 64.
 */
final class Directory {
    private ByteBuffer segment;
    private int base;
    private boolean compact;
    private int nodeAt;
    private int bufferAt;
    private long end;

    /**
     * Starts anew.
     *
     * @param segment where to write, or null to compute only how many bytes a compact batch has
     * @param base where the batch starts in the segment
     * @param nodes entries of the node table
     * @param buffers entries of the buffer table
     * @param compact whether buffers move together
     */
    void begin(ByteBuffer segment, int base, int nodes, int buffers, boolean compact) {
        this.segment = segment;
        this.base = base;
        this.compact = compact;
        this.nodeAt = base + Layout.BATCH_HEADER_BYTES;
        this.bufferAt = nodeAt + nodes * Layout.BATCH_NODE_BYTES;
        this.end = Space.align(bufferAt + buffers * Layout.BATCH_BUFFER_BYTES - base);
    }

    void node(long length, long nullCount) {
        if (segment != null) {
            segment.putLong(nodeAt, length);
            segment.putLong(nodeAt + 8, nullCount);
            nodeAt += Layout.BATCH_NODE_BYTES;
        }
    }

    void buffer(int at, int bytes) {
        long offset = bytes == 0 ? 0 : compact ? end : at - base;
        if (bytes != 0) {
            end = Space.align(offset + bytes);
        }
        if (segment == null) {
            return;
        }
        if (bytes != 0 && base + offset != at) {
            segment.put((int) (base + offset), segment, at, bytes);
        }
        segment.putLong(bufferAt, offset);
        segment.putLong(bufferAt + 8, bytes);
        bufferAt += Layout.BATCH_BUFFER_BYTES;
    }

    /** Where the last buffer ends, from the start of the batch, rounded up to 64: the body bytes. */
    long end() {
        return end;
    }
}
