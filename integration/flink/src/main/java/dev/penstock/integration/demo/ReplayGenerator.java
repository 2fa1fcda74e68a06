package dev.penstock.integration.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * Row k of a replay: k itself, then the fields of record k mod n of a file of JSON lines. The file is read once per
 * subtask, into memory, and must be visible to every TaskManager.
 */
final class ReplayGenerator implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;

    private final String path;
    private final int fields;
    private final DeserializationSchema<RowData> format;
    private transient GenericRowData[] records;

    /**
     * A replay of one file.
     *
     * @param fields columns of a record, without the counter
     * @param format reads one line
     */
    ReplayGenerator(String path, int fields, DeserializationSchema<RowData> format) {
        this.path = path;
        this.fields = fields;
        this.format = format;
    }

    @Override
    public void open(SourceReaderContext context) throws Exception {
        format.open(new FormatContext(context));
        List<String> lines = Files.readAllLines(Path.of(path), StandardCharsets.UTF_8);
        List<GenericRowData> rows = new ArrayList<>(lines.size());
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).isBlank()) {
                rows.add(parse(lines.get(i), i + 1));
            }
        }
        if (rows.isEmpty()) {
            throw new IOException("option path: " + path + " has no records; it must hold one JSON object a line");
        }
        records = rows.toArray(new GenericRowData[0]);
    }

    @Override
    public RowData map(Long k) {
        GenericRowData record = records[(int) (k % records.length)];
        GenericRowData row = new GenericRowData(fields + 1);
        row.setField(0, k);
        for (int i = 0; i < fields; i++) {
            row.setField(i + 1, record.getField(i));
        }
        return row;
    }

    private GenericRowData parse(String line, int number) throws IOException {
        try {
            return (GenericRowData) format.deserialize(line.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IOException("option path: line " + number + " of " + path
                    + " does not fit the table's columns: " + line, e);
        }
    }

    /** What a format wants to know of its task. */
    private record FormatContext(SourceReaderContext reader) implements DeserializationSchema.InitializationContext {

        @Override
        public MetricGroup getMetricGroup() {
            return reader.metricGroup();
        }

        @Override
        public UserCodeClassLoader getUserCodeClassLoader() {
            return SimpleUserCodeClassLoader.create(reader.getUserCodeClassLoader().asClassLoader());
        }
    }
}
