package dev.penstock.integration.parity;

import dev.penstock.arena.Extent;
import dev.penstock.flink.columns.NullKeys;
import dev.penstock.flink.columns.Nullability;
import dev.penstock.flink.columns.RejectedRowException;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.proto.v1.OpenWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;

/**
 * A run over random tables: for each some batches of random rows, each batch in one {@link
 * RowShape}. Rows that Flink's serializer accepts travel together; each row that it refuses travels alone and must be
 * refused.
 */
public final class ParityRun {
    private static final int ROWS_PER_SCHEMA = 120;
    private static final int ROWS_PER_BATCH = 30;

    /** Small enough that batches of wide rows fill it, which exercises the closing of a batch. */
    private static final int EXTENT_BYTES = 1 << 18;

    private final ParityFormat format;
    private final SplittableRandom random;
    private final EncoderProcess encoder;
    private final ParityReport report;
    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(2 * EXTENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);

    private ParityRun(ParityFormat format, EncoderProcess encoder, long seed) {
        this.format = format;
        this.encoder = encoder;
        this.random = new SplittableRandom(seed);
        this.report = new ParityReport(format, seed);
    }

    /**
     * Compares the {@link Corpus}, then random rows until both numbers are reached.
     *
     * @param format whose bytes are compared
     * @param cells least number of random leaf values
     * @param rows least number of random rows
     * @param seed of all randomness: equal seeds compare equal rows
     * @throws IOException when the encoder is missing or breaks
     */
    public static ParityReport compare(ParityFormat format, long cells, long rows, long seed) throws Exception {
        try (EncoderProcess encoder = EncoderProcess.start()) {
            ParityRun run = new ParityRun(format, encoder, seed);
            run.corpus();
            long fixedCells = run.report.cells();
            long fixedRows = run.report.rows();
            while (run.report.cells() - fixedCells < cells || run.report.rows() - fixedRows < rows) {
                run.schema();
            }
            return run.report;
        }
    }

    /** A row in the form in which both sides get it. */
    private record Sample(RowData row, long cells, WholeRecord expected, String failure) {}

    private void corpus() throws Exception {
        for (CorpusTable table : Corpus.of(format)) {
            for (FormatOptions options : table.options()) {
                ParitySubject subject = new ValueSubject(format, table.type(), options, random.split());
                String context = table.name() + ", " + abbreviated(subject.toString());
                for (RowShape shape : table.crossed() ? RowShape.values() : new RowShape[] {null}) {
                    schema(subject, table.source(format.changelog()), shape, context);
                }
            }
        }
    }

    private static String abbreviated(String text) {
        return text.length() > 1000 ? text.substring(0, 1000) + "..." : text;
    }

    private void schema() throws Exception {
        ParitySubject subject = format.random(random);
        RowSource rows = subject.completed(new RandomRows(random.split()).source(subject.type(), ROWS_PER_SCHEMA));
        schema(subject, rows, null, subject.toString());
    }

    /** Compares rows in one shape; with a null for the shape each batch has a random one. */
    private void schema(ParitySubject subject, RowSource rows, RowShape shape, String context) throws Exception {
        report.schema();
        String byFlink = refusedByFlink(subject);
        String byPenstock = refusedByPenstock(subject);
        if (byFlink == null && byPenstock == null) {
            rows(subject, rows, shape, context);
        } else if (byFlink == null || byPenstock == null) {
            report.differ(1, context + "\n  flink    " + (byFlink == null ? "accepts the type" : byFlink)
                    + "\n  penstock " + (byPenstock == null ? "accepts the type" : byPenstock));
        }
    }

    private static String refusedByFlink(ParitySubject subject) throws Exception {
        try {
            subject.oracle();
            return null;
        } catch (RuntimeException e) {
            return e.toString();
        }
    }

    private String refusedByPenstock(ParitySubject subject) throws Exception {
        OpenWriter open;
        try {
            open = subject.open();
        } catch (RuntimeException e) {
            return e.toString();
        }
        try {
            encoder.open(open);
            encoder.defineSchemas(subject.schemas());
            return null;
        } catch (EncoderProcess.RefusedException e) {
            return e.getMessage();
        }
    }

    private void rows(ParitySubject subject, RowSource rows, RowShape fixed, String context) throws Exception {
        OpenWriter open = subject.open();
        RowType columns = Nullability.columns(subject.type(), open);
        RowColumnWriter writer = new RowColumnWriter(columns, column -> NullKeys.of(open, column));
        ParitySubject.Oracle oracle = subject.oracle();
        // Flink has no binary rows with a column of type NULL.
        RowDataSerializer serializer = hasNullType(subject.type()) ? null : new RowDataSerializer(subject.type());
        while (rows.hasNext()) {
            RowShape shape = serializer == null
                    ? RowShape.GENERIC
                    : fixed != null ? fixed : RowShape.values()[random.nextInt(RowShape.values().length)];
            List<Sample> accepted = new ArrayList<>();
            for (int i = 0; i < ROWS_PER_BATCH && rows.hasNext(); i++) {
                long before = rows.cells();
                RowData row = shape.shape(rows.next(), serializer);
                Sample sample = sample(row, rows.cells() - before, oracle);
                if (sample.failure == null) {
                    accepted.add(sample);
                } else {
                    // The refused row has left Flink's reused nodes half filled; a job would end here.
                    oracle = subject.oracle();
                    refused(writer, sample, context + "\n  " + shape);
                }
            }
            compare(writer, accepted, context + "\n  " + shape);
        }
    }

    private static boolean hasNullType(LogicalType type) {
        return type.is(LogicalTypeRoot.NULL) || type.getChildren().stream().anyMatch(ParityRun::hasNullType);
    }

    private static Sample sample(RowData row, long cells, ParitySubject.Oracle oracle) {
        try {
            return new Sample(row, cells, oracle.record(row), null);
        } catch (RuntimeException e) {
            return new Sample(row, cells, null, rootOf(e).toString());
        }
    }

    private static Throwable rootOf(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    private void refused(RowColumnWriter writer, Sample sample, String context) throws IOException {
        try {
            WholeRecord[] got = encode(writer, List.of(sample));
            report.differ(sample.cells, describe(context, sample, got[0]));
        } catch (EncoderProcess.RefusedException | RejectedRowException e) {
            report.bothFail(sample.cells);
        }
    }

    private void compare(RowColumnWriter writer, List<Sample> samples, String context) throws IOException {
        int from = 0;
        while (from < samples.size()) {
            int fitting = fill(writer, samples.subList(from, samples.size()));
            List<Sample> batch = samples.subList(from, from + fitting);
            try {
                WholeRecord[] got = send(writer);
                for (int i = 0; i < fitting; i++) {
                    Sample sample = batch.get(i);
                    if (got.length == fitting && sample.expected.same(got[i])) {
                        report.compared(sample.cells);
                    } else {
                        report.differ(sample.cells, describe(context, sample, i < got.length ? got[i] : null));
                    }
                }
            } catch (EncoderProcess.RefusedException e) {
                refused(writer, batch, e.getMessage(), context);
            }
            from += fitting;
        }
    }

    /** A batch that Penstock refuses, of rows that Flink accepts: row by row, so that only what is to blame counts. */
    private void refused(RowColumnWriter writer, List<Sample> batch, String reason, String context) throws IOException {
        if (batch.size() > 1) {
            for (Sample sample : batch) {
                compare(writer, List.of(sample), context);
            }
        } else {
            report.differ(batch.get(0).cells, context + "\n  row refused that Flink accepts: " + reason
                    + "\n  row " + batch.get(0).row);
        }
    }

    private WholeRecord[] encode(RowColumnWriter writer, List<Sample> samples)
            throws IOException, EncoderProcess.RefusedException {
        fill(writer, samples);
        return send(writer);
    }

    /** Writes as many rows as fit and returns how many; never none. */
    private int fill(RowColumnWriter writer, List<Sample> samples) {
        // Not at the start of the segment, since batches never are.
        int offset = 64 * (1 + random.nextInt(64));
        int capacity = Math.max(EXTENT_BYTES, writer.minimumExtentBytes(samples.get(0).row));
        if (offset + capacity > memory.capacity()) {
            throw new IllegalStateException("a random row takes " + capacity + " bytes, more than the test's memory");
        }
        writer.begin(new Extent(1, memory, offset, capacity));
        start = offset;
        int n = 0;
        while (n < samples.size() && writer.append(samples.get(n).row)) {
            n++;
        }
        if (n == 0) {
            throw new IllegalStateException("a row does not fit an extent of its minimum size " + capacity);
        }
        return n;
    }

    /** Where the batch in {@link #memory} starts. */
    private int start;

    private WholeRecord[] send(RowColumnWriter writer) throws IOException, EncoderProcess.RefusedException {
        return encoder.encode(writer.schemaTag(), memory.slice(start, writer.finish()));
    }

    private static String describe(String context, Sample sample, WholeRecord got) {
        return context + "\n  row      " + sample.row
                + "\n  flink    " + (sample.failure == null ? sample.expected.text() : sample.failure)
                + "\n  penstock " + (got == null ? "no record" : got.text());
    }
}
