package dev.penstock.bench;

import dev.penstock.arena.Extent;
import dev.penstock.flink.columns.RowColumnWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.apache.flink.formats.common.TimestampFormat;
import org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode;
import org.apache.flink.formats.json.JsonRowDataSerializationSchema;
import org.apache.flink.table.data.RowData;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * One row handed over: Penstock's column writer against Flink's JSON serializer, on the same Nexmark bids. Numbers are
 * per row; an invocation handles all of {@link #ROWS}, which is some 300 KB of row memory, about what a second-level
 * cache holds. Batches are opened and finished as in a job, so their cost is in the numbers.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ColumnWriterBenchmark {
    static final int ROWS = 1024;

    private static final int EXTENT_BYTES = 1 << 20;

    private RowData[] binary;
    private RowData[] generic;
    private RowColumnWriter writer;
    private JsonRowDataSerializationSchema json;
    private final Extent[] extents = new Extent[8];
    private int used;

    /** Makes rows, a writer with an extent, and Flink's serializer as the stock sink makes it. */
    @Setup(Level.Trial)
    public void setUp() throws Exception {
        binary = BidRows.binary(ROWS, 1);
        generic = BidRows.generic(ROWS, 1);
        ByteBuffer segment =
                ByteBuffer.allocateDirect(extents.length * EXTENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < extents.length; i++) {
            extents[i] = new Extent(1, segment, i * EXTENT_BYTES, EXTENT_BYTES);
        }
        writer = new RowColumnWriter(BidRows.TYPE);
        writer.begin(nextExtent());
        json = new JsonRowDataSerializationSchema(
                BidRows.TYPE, TimestampFormat.SQL, MapNullKeyMode.FAIL, "null", false, false);
        json.open(null);
    }

    // Several extents in turn, as a writer under a credit window has them.
    private Extent nextExtent() {
        return extents[used++ % extents.length];
    }

    private void write(RowData row) {
        if (!writer.append(row)) {
            writer.finish();
            writer.begin(nextExtent());
            if (!writer.append(row)) {
                throw new IllegalStateException("a bid does not fit an empty extent");
            }
        }
    }

    /** Binary rows, read straight from their memory. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public void direct() {
        for (RowData row : binary) {
            write(row);
        }
    }

    /** Boxed rows with strings that are Java Strings, through getters. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public void generic() {
        for (RowData row : generic) {
            write(row);
        }
    }

    /** What the stock sink does with binary rows before it sends. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public void flinkJson(Blackhole records) {
        for (RowData row : binary) {
            records.consume(json.serialize(row));
        }
    }
}
