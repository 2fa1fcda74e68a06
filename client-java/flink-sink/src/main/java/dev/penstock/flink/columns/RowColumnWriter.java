package dev.penstock.flink.columns;

import dev.penstock.arena.Extent;
import dev.penstock.arena.vector.Batch;
import dev.penstock.arena.vector.Vector;
import dev.penstock.proto.v1.Schema;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntFunction;
import java.util.zip.CRC32C;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * Writes rows of one type as batches of Arrow columns, one batch after another: {@link #begin}, {@link #append} until
 * it says that the extent is full, {@link #finish}. Binary rows in one segment are read straight from their memory,
 * without making an object; all other rows go through their getters.
 *
 * <p>How an extent is divided among the columns follows running averages of earlier batches, so a writer should live as
 * long as its task. Not safe for concurrent use.
 */
public final class RowColumnWriter {
    /** Binary rows are in machine order, batches are little-endian: elsewhere every row takes the getters. */
    private static final boolean DIRECT = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final BinarySource source = new BinarySource();
    private final int schemaTag;
    private final RowFields fields;
    private final Batch batch;

    /** A second set of vectors that only counts: how large a row is, without touching the open batch. */
    private final RowFields measuringFields;

    private final Batch scale;

    /**
     * @param type the physical row type, as {@link #toSchema} has accepted it
     * @throws IllegalArgumentException when a column has no layout
     */
    public RowColumnWriter(RowType type) {
        this(type, column -> NullKeys.NULL);
    }

    /**
     * @param type the physical row type, as {@link #toSchema} has accepted it
     * @param nullKeys for each field what null keys of its maps are to the formats that write it
     * @throws IllegalArgumentException when a column has no layout
     */
    public RowColumnWriter(RowType type, IntFunction<NullKeys> nullKeys) {
        try {
            schemaTag = tagOf(toSchema(type));
            fields = ColumnFactory.fields(type, nullKeys);
            measuringFields = ColumnFactory.fields(type, nullKeys);
        } catch (UnsupportedTypeException e) {
            throw new IllegalArgumentException(e.reason(), e);
        }
        batch = new Batch(fields.vectors(), schemaTag);
        List<Vector> weighing = measuringFields.vectors();
        weighing.forEach(Vector::measure);
        scale = new Batch(weighing, schemaTag);
    }

    /**
     * Describes a row type to the daemon.
     *
     * @throws UnsupportedTypeException when a column has no layout; its reason names the column and its type
     */
    public static Schema toSchema(RowType type) throws UnsupportedTypeException {
        return SchemaTranslator.translate(type);
    }

    /** The number that slots and batch headers carry for this schema: equal types have equal tags, and none is 0. */
    public int schemaTag() {
        return schemaTag;
    }

    private static int tagOf(Schema schema) {
        CRC32C crc = new CRC32C();
        crc.update(schema.toByteArray());
        return crc.getValue() == 0 ? 1 : (int) crc.getValue();
    }

    /** Names the extent of the next batch; an unfinished batch before it is dropped. */
    public void begin(Extent extent) {
        batch.begin(extent);
    }

    /**
     * Adds a row to the batch.
     *
     * @return false when it does not fit: the batch is unchanged. For a batch without rows that means that the extent
     *     has less than {@link #minimumExtentBytes} bytes
     * @throws RejectedRowException when a value cannot be handed over; the batch is unchanged
     */
    public boolean append(RowData row) {
        if (batch.unplaced()) {
            measure(row);
            if (!batch.place(scale)) {
                return false;
            }
        }
        if (batch.full()) {
            return false;
        }
        boolean written = false;
        try {
            written = write(fields, row);
        } finally {
            if (!written) {
                batch.rollback();
            }
        }
        if (written) {
            batch.commit(row.getRowKind().toByteValue());
        }
        return written;
    }

    private boolean write(RowFields into, RowData row) {
        if (DIRECT && row instanceof BinaryRowData binary && binary.getArity() == into.count()) {
            MemorySegment[] segments = binary.getSegments();
            if (segments.length == 1) {
                source.set(segments);
                return into.writeDirect(source, binary.getOffset());
            }
        }
        return into.write(row);
    }

    private void measure(RowData row) {
        scale.reset();
        write(measuringFields, row);
    }

    /** Rows in the batch. */
    public int rowCount() {
        return batch.rowCount();
    }

    /** Flags of the batch for its slot: {@code Layout.BATCH_FLAG_ALL_INSERT} when every row is an INSERT, else 0. */
    public int flags() {
        return batch.flags();
    }

    /**
     * Completes the batch in its extent.
     *
     * @return its length in bytes, a multiple of 64
     * @throws IllegalStateException when it has no rows
     */
    public int finish() {
        return batch.finish();
    }

    /**
     * The bytes that a batch of this one row needs, a multiple of 64. Leaves the open batch alone.
     *
     * @throws RejectedRowException as {@link #append} would
     */
    public int minimumExtentBytes(RowData row) {
        measure(row);
        return Math.toIntExact(Batch.minimumBytes(scale));
    }
}
