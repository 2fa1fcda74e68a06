package dev.penstock.flink.columns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.penstock.arena.Extent;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How well extents are used, and that the direct path makes no garbage; on rows like Nexmark's bids. */
class ExtentUseTest {
    private static final RowType BID = RowType.of(
            new BigIntType(), new BigIntType(), new BigIntType(), new VarCharType(VarCharType.MAX_LENGTH),
            new VarCharType(VarCharType.MAX_LENGTH), new TimestampType(3), new VarCharType(VarCharType.MAX_LENGTH));

    private static final int ROWS = 2000;

    private final SplittableRandom random = new SplittableRandom(1);
    private final RowData[] bids = new RowData[ROWS];
    private long bytesPerRow;

    ExtentUseTest() {
        RowDataSerializer serializer = new RowDataSerializer(BID);
        for (int i = 0; i < ROWS; i++) {
            String channel = random.nextBoolean() ? "Google" : "channel-" + random.nextInt(10_000);
            String url = "https://www.nexmark.com/item.htm?query=1&channel_id=" + random.nextInt(1 << 30);
            String extra = "x".repeat(40 + random.nextInt(80));
            bids[i] = serializer.toBinaryRow(GenericRowData.of(
                    1L, 2L, 3L, StringData.fromString(channel), StringData.fromString(url),
                    TimestampData.fromEpochMillis(i), StringData.fromString(extra))).copy();
            bytesPerRow += channel.length() + url.length() + extra.length();
        }
        // Three numbers, a timestamp of 12 bytes, three offsets.
        bytesPerRow = bytesPerRow / ROWS + 24 + 12 + 12;
    }

    private static Extent extent(int capacity) {
        return new Extent(1, ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN), 0, capacity);
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 16, 1 << 18, 1 << 20})
    void fourFifthsOfAnExtentAreUsedFromTheSecondBatchOn(int capacity) {
        RowColumnWriter writer = new RowColumnWriter(BID);
        Extent extent = extent(capacity);
        int next = 0;
        for (int batch = 0; batch < 20; batch++) {
            writer.begin(extent);
            while (writer.append(bids[next % ROWS])) {
                next++;
            }
            long used = writer.rowCount() * bytesPerRow;
            writer.finish();
            assertTrue(batch == 0 || used >= capacity * 0.8,
                    "batch " + batch + " uses " + 100 * used / capacity + " % of " + capacity);
        }
    }

    @Test
    void batchesThatABarrierClosesEarlyDoNotSpoilTheQuotas() {
        RowColumnWriter writer = new RowColumnWriter(BID);
        Extent extent = extent(1 << 18);
        int next = 0;
        for (int batch = 0; batch < 20; batch++) {
            writer.begin(extent);
            for (int i = 0; i < 3; i++) {
                assertTrue(writer.append(bids[next++ % ROWS]));
            }
            writer.finish();
            writer.begin(extent);
            while (writer.append(bids[next % ROWS])) {
                next++;
            }
            long used = writer.rowCount() * bytesPerRow;
            writer.finish();
            assertTrue(batch < 2 || used >= (1 << 18) * 0.8, "batch " + batch + " uses " + used + " of " + (1 << 18));
        }
    }

    @Test
    void theDirectPathMakesNoGarbage() {
        assertTrue(bids[0] instanceof BinaryRowData);
        RowColumnWriter writer = new RowColumnWriter(BID);
        Extent extent = extent(1 << 18);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        write(writer, extent, 20_000); // so that every class is loaded and compiled code is what runs
        long before = threads.getThreadAllocatedBytes(id);
        int rows = write(writer, extent, 200_000);
        long garbage = threads.getThreadAllocatedBytes(id) - before;
        assertEquals(0, garbage / rows, garbage + " bytes for " + rows + " rows");
    }

    private int write(RowColumnWriter writer, Extent extent, int rows) {
        writer.begin(extent);
        for (int i = 0; i < rows; i++) {
            if (!writer.append(bids[i % ROWS])) {
                writer.finish();
                writer.begin(extent);
                writer.append(bids[i % ROWS]);
            }
        }
        writer.finish();
        return rows;
    }
}
