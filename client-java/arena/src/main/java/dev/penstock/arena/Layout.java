package dev.penstock.arena;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Offsets and numbers of shared memory that both languages use, as {@code shm/LAYOUT.md} explains them. All offsets and
 * sizes are bytes; every number in shared memory is little-endian. A test compares {@link #render()} with
 * {@code shm/testdata/layout.golden}, which the Go side is compared with as well.
 */
public final class Layout {
    public static final int VERSION = 1;

    public static final int SEGMENT_HEADER_BYTES = 4096;
    public static final int SEGMENT_ALIGN = 64;
    public static final long SEGMENT_MAGIC = 0x314b434f54534e50L;
    public static final int SEGMENT_OFF_MAGIC = 0;
    public static final int SEGMENT_OFF_LAYOUT_VERSION = 8;
    public static final int SEGMENT_OFF_KIND = 12;
    public static final int SEGMENT_OFF_LAYOUT_HASH = 16;
    public static final int SEGMENT_OFF_ARENA_ID = 24;
    public static final int SEGMENT_OFF_SEGMENT_ID = 32;
    public static final int SEGMENT_OFF_SLOT_BYTES = 36;
    public static final int SEGMENT_OFF_SEGMENT_BYTES = 40;
    public static final int SEGMENT_OFF_DATA_OFFSET = 48;
    public static final int SEGMENT_OFF_FIRST_SLOT = 56;
    public static final int SEGMENT_OFF_SLOT_COUNT = 60;
    public static final int SEGMENT_OFF_HEADER_CRC32C = 64;
    public static final int SEGMENT_OFF_PRESSURE = 72;
    public static final int SEGMENT_KIND_TABLE = 1;
    public static final int SEGMENT_KIND_DATA = 2;

    public static final int SLOT_BYTES = 64;
    public static final int SLOT_OFF_STATE = 0;
    public static final int SLOT_OFF_SEGMENT_ID = 8;
    public static final int SLOT_OFF_SCHEMA_TAG = 12;
    public static final int SLOT_OFF_OFFSET = 16;
    public static final int SLOT_OFF_LENGTH = 24;
    public static final int SLOT_OFF_ROW_COUNT = 32;
    public static final int SLOT_OFF_FLAGS = 36;
    public static final int SLOT_OFF_SEQUENCE = 40;
    public static final int SLOT_OFF_RESERVED = 48;
    public static final int SLOT_OFF_CRC32C = 60;

    public static final int STATE_OWNER_BITS = 24;
    public static final int STATE_STATE_BITS = 8;
    public static final int STATE_GENERATION_BITS = 32;
    public static final int STATE_FREE = 0;
    public static final int STATE_RESERVED = 1;
    public static final int STATE_PARKED = 2;
    public static final int STATE_CLAIMED = 3;
    public static final int STATE_SPILLING = 4;
    public static final int STATE_ON_DISK = 5;

    public static final int BATCH_MAGIC = 0x31544250;
    public static final int BATCH_VERSION = 1;
    public static final int BATCH_HEADER_BYTES = 64;
    public static final int BATCH_ALIGN = 64;
    public static final int BATCH_OFF_MAGIC = 0;
    public static final int BATCH_OFF_VERSION = 4;
    public static final int BATCH_OFF_FLAGS = 6;
    public static final int BATCH_OFF_ROW_COUNT = 8;
    public static final int BATCH_OFF_NODE_COUNT = 12;
    public static final int BATCH_OFF_BUFFER_COUNT = 16;
    public static final int BATCH_OFF_SCHEMA_TAG = 20;
    public static final int BATCH_OFF_BODY_BYTES = 24;
    public static final int BATCH_FLAG_ALL_INSERT = 1;
    public static final int BATCH_NODE_BYTES = 16;
    public static final int BATCH_BUFFER_BYTES = 16;

    public static final int FRAME_BYTES = 28;
    public static final int FRAME_OFF_TAG = 0;
    public static final int FRAME_OFF_ARENA_ID = 4;
    public static final int FRAME_OFF_SLOT = 12;
    public static final int FRAME_OFF_GENERATION = 16;
    public static final int FRAME_OFF_KEY_GROUP = 20;
    public static final int FRAME_OFF_CRC32C = 24;

    private static final long HASH = hashOf(render());

    private Layout() {}

    /** The layout hash that Hello and every segment header carry: SHA-256 of {@link #render()}, first eight bytes. */
    public static long hash() {
        return HASH;
    }

    /** Returns every constant as one {@code name=value} line, in the order and spelling of the golden file. */
    public static String render() {
        StringBuilder out = new StringBuilder(2048);
        line(out, "layout.version", VERSION);
        renderSegment(out);
        renderSlot(out);
        renderBatch(out);
        line(out, "frame.bytes", FRAME_BYTES);
        line(out, "frame.off.tag", FRAME_OFF_TAG);
        line(out, "frame.off.arena_id", FRAME_OFF_ARENA_ID);
        line(out, "frame.off.slot", FRAME_OFF_SLOT);
        line(out, "frame.off.generation", FRAME_OFF_GENERATION);
        line(out, "frame.off.key_group", FRAME_OFF_KEY_GROUP);
        line(out, "frame.off.crc32c", FRAME_OFF_CRC32C);
        return out.toString();
    }

    private static void renderSegment(StringBuilder out) {
        line(out, "segment.header_bytes", SEGMENT_HEADER_BYTES);
        line(out, "segment.align", SEGMENT_ALIGN);
        out.append("segment.magic=0x").append(Long.toHexString(SEGMENT_MAGIC)).append('\n');
        line(out, "segment.off.magic", SEGMENT_OFF_MAGIC);
        line(out, "segment.off.layout_version", SEGMENT_OFF_LAYOUT_VERSION);
        line(out, "segment.off.kind", SEGMENT_OFF_KIND);
        line(out, "segment.off.layout_hash", SEGMENT_OFF_LAYOUT_HASH);
        line(out, "segment.off.arena_id", SEGMENT_OFF_ARENA_ID);
        line(out, "segment.off.segment_id", SEGMENT_OFF_SEGMENT_ID);
        line(out, "segment.off.slot_bytes", SEGMENT_OFF_SLOT_BYTES);
        line(out, "segment.off.segment_bytes", SEGMENT_OFF_SEGMENT_BYTES);
        line(out, "segment.off.data_offset", SEGMENT_OFF_DATA_OFFSET);
        line(out, "segment.off.first_slot", SEGMENT_OFF_FIRST_SLOT);
        line(out, "segment.off.slot_count", SEGMENT_OFF_SLOT_COUNT);
        line(out, "segment.off.header_crc32c", SEGMENT_OFF_HEADER_CRC32C);
        line(out, "segment.off.pressure", SEGMENT_OFF_PRESSURE);
        line(out, "segment.kind.table", SEGMENT_KIND_TABLE);
        line(out, "segment.kind.data", SEGMENT_KIND_DATA);
    }

    private static void renderSlot(StringBuilder out) {
        line(out, "slot.bytes", SLOT_BYTES);
        line(out, "slot.off.state", SLOT_OFF_STATE);
        line(out, "slot.off.segment_id", SLOT_OFF_SEGMENT_ID);
        line(out, "slot.off.schema_tag", SLOT_OFF_SCHEMA_TAG);
        line(out, "slot.off.offset", SLOT_OFF_OFFSET);
        line(out, "slot.off.length", SLOT_OFF_LENGTH);
        line(out, "slot.off.row_count", SLOT_OFF_ROW_COUNT);
        line(out, "slot.off.flags", SLOT_OFF_FLAGS);
        line(out, "slot.off.sequence", SLOT_OFF_SEQUENCE);
        line(out, "slot.off.reserved", SLOT_OFF_RESERVED);
        line(out, "slot.off.crc32c", SLOT_OFF_CRC32C);
        line(out, "state.owner_bits", STATE_OWNER_BITS);
        line(out, "state.state_bits", STATE_STATE_BITS);
        line(out, "state.generation_bits", STATE_GENERATION_BITS);
        line(out, "state.free", STATE_FREE);
        line(out, "state.reserved", STATE_RESERVED);
        line(out, "state.parked", STATE_PARKED);
        line(out, "state.claimed", STATE_CLAIMED);
        line(out, "state.spilling", STATE_SPILLING);
        line(out, "state.on_disk", STATE_ON_DISK);
    }

    private static void renderBatch(StringBuilder out) {
        out.append("batch.magic=0x").append(Integer.toHexString(BATCH_MAGIC)).append('\n');
        line(out, "batch.version", BATCH_VERSION);
        line(out, "batch.header_bytes", BATCH_HEADER_BYTES);
        line(out, "batch.align", BATCH_ALIGN);
        line(out, "batch.off.magic", BATCH_OFF_MAGIC);
        line(out, "batch.off.version", BATCH_OFF_VERSION);
        line(out, "batch.off.flags", BATCH_OFF_FLAGS);
        line(out, "batch.off.row_count", BATCH_OFF_ROW_COUNT);
        line(out, "batch.off.node_count", BATCH_OFF_NODE_COUNT);
        line(out, "batch.off.buffer_count", BATCH_OFF_BUFFER_COUNT);
        line(out, "batch.off.schema_tag", BATCH_OFF_SCHEMA_TAG);
        line(out, "batch.off.body_bytes", BATCH_OFF_BODY_BYTES);
        line(out, "batch.flag.all_insert", BATCH_FLAG_ALL_INSERT);
        line(out, "batch.node_bytes", BATCH_NODE_BYTES);
        line(out, "batch.buffer_bytes", BATCH_BUFFER_BYTES);
    }

    private static void line(StringBuilder out, String name, long value) {
        out.append(name).append('=').append(value).append('\n');
    }

    private static long hashOf(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JVM has no SHA-256, which every Java platform must have", e);
        }
    }
}
