package dev.penstock.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** Flink's serializer of one format over as many rows as a batch has. Numbers are per batch. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FlinkEncodeBenchmark {
    /** The identifier of an {@link EncodedFormat}; {@link FlinkEncodeBench} sets it. */
    @Param("json")
    public String format;

    /** Rows in a batch; {@link FlinkEncodeBench} sets it. */
    @Param("4096")
    public int rows;

    private static final long WARM_UP_NANOS = 400_000_000;

    private RowData[] batch;
    private SerializationSchema<RowData> flink;

    /**
     * Makes the rows, and the serializer as the stock sink makes it. Warms it up for some time of the processor: on a busy
     * machine the warm-up of JMH, which looks at the clock, may hardly get any.
     */
    @Setup(Level.Trial)
    public void setUp(Blackhole records) throws Exception {
        EncodedFormat of = EncodedFormat.of(format);
        batch = of.rows(rows);
        flink = of.flink();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (long start = threads.getCurrentThreadCpuTime();
                threads.getCurrentThreadCpuTime() - start < WARM_UP_NANOS; ) {
            serialize(records);
        }
    }

    /** What the stock sink does with the rows before it sends them. */
    @Benchmark
    public void serialize(Blackhole records) {
        for (RowData row : batch) {
            records.consume(flink.serialize(row));
        }
    }
}
