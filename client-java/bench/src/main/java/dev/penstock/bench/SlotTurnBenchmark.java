package dev.penstock.bench;

import dev.penstock.arena.Layout;
import dev.penstock.arena.SlotTable;
import dev.penstock.arena.StateWord;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One turn of a slot in one process: reserve, fill the descriptor and park as the client does, then claim and settle
 * with the daemon's two compare-and-swaps, then see that the slot is free. No call leaves the JVM.
 */
@State(Scope.Thread)
@BenchmarkMode({Mode.AverageTime, Mode.SampleTime})
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SlotTurnBenchmark {
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int SLOTS = 1024;
    private static final int OWNER = 7;

    private ByteBuffer table;
    private SlotTable slots;
    private long sequence;

    /** Makes a table of its own; a mapped one is no different to the processor. */
    @Setup(Level.Trial)
    public void setUp() {
        table = ByteBuffer.allocateDirect(Layout.SEGMENT_HEADER_BYTES + SLOTS * Layout.SLOT_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        slots = new SlotTable(table, 0, SLOTS, OWNER);
    }

    /** The whole turn. */
    @Benchmark
    public boolean parkClaimSettle() {
        int slot = slots.reserve();
        long generation = slots.generation(slot);
        slots.park(slot, 3, 9, Layout.SEGMENT_HEADER_BYTES, 1 << 20, 4096, 0, ++sequence);
        int at = Layout.SEGMENT_HEADER_BYTES + slot * Layout.SLOT_BYTES;
        long parked = StateWord.of(generation, Layout.STATE_PARKED, OWNER);
        long claimed = StateWord.of(generation, Layout.STATE_CLAIMED, 0);
        if (!LONGS.compareAndSet(table, at, parked, claimed)
                || !LONGS.compareAndSet(table, at, claimed, StateWord.of(generation + 1, Layout.STATE_FREE, 0))) {
            throw new IllegalStateException("slot " + slot + " was not parked");
        }
        return slots.isFree(slot, generation);
    }
}
