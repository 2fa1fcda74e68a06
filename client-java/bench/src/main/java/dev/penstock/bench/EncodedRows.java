package dev.penstock.bench;

import dev.penstock.arena.Extent;
import dev.penstock.flink.columns.RowColumnWriter;
import dev.penstock.proto.v1.OpenWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.table.data.RowData;

/**
 * Writes what the Go half of {@code make bench-encode} encodes: for each format a serialized OpenWriter ({@code
 * FORMAT.open}) and one batch of each size by the column writer of the sink ({@code FORMAT-ROWS.batch}); and in {@code
 * expected.txt} the lines "FORMAT ROWS SCHEMA_TAG BYTES CRC32" of what Flink's serializer makes of the same rows.
 */
public final class EncodedRows {
    /** The largest batch takes 20 MB. */
    private static final int EXTENT_BYTES = 64 << 20;

    private EncodedRows() {}

    /** Arguments: the folder, and the batch sizes. */
    public static void main(String[] args) throws Exception {
        Path folder = Files.createDirectories(Path.of(args[0]));
        ByteBuffer memory = ByteBuffer.allocateDirect(EXTENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder expected = new StringBuilder();
        for (EncodedFormat format : EncodedFormat.values()) {
            Files.write(folder.resolve(format.identifier() + ".open"), OpenWriter.newBuilder()
                    .setSchema(RowColumnWriter.toSchema(format.type()))
                    .setValueFormat(format.message())
                    .build()
                    .toByteArray());
            for (int i = 1; i < args.length; i++) {
                RowData[] rows = format.rows(Integer.parseInt(args[i]));
                RowColumnWriter writer = new RowColumnWriter(format.type());
                writeBatch(writer, rows, memory, folder.resolve(format.identifier() + "-" + args[i] + ".batch"));
                expected.append(format.identifier()).append(' ').append(args[i]).append(' ')
                        .append(Integer.toUnsignedString(writer.schemaTag())).append(' ')
                        .append(flink(format, rows)).append('\n');
            }
        }
        Files.writeString(folder.resolve("expected.txt"), expected);
    }

    private static void writeBatch(RowColumnWriter writer, RowData[] rows, ByteBuffer memory, Path file)
            throws IOException {
        writer.begin(new Extent(1, memory, 0, EXTENT_BYTES));
        for (RowData row : rows) {
            if (!writer.append(row)) {
                throw new IllegalStateException(
                        rows.length + " rows do not fit an extent of " + EXTENT_BYTES + " bytes");
            }
        }
        ByteBuffer batch = memory.slice(0, writer.finish());
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            while (batch.hasRemaining()) {
                out.write(batch);
            }
        }
    }

    private static String flink(EncodedFormat format, RowData[] rows) throws Exception {
        SerializationSchema<RowData> flink = format.flink();
        CRC32 crc = new CRC32();
        long bytes = 0;
        for (RowData row : rows) {
            byte[] record = flink.serialize(row);
            crc.update(record);
            bytes += record.length;
        }
        return bytes + " " + crc.getValue();
    }
}
