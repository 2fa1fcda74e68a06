package dev.penstock.flink.columns;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Reads a batch back into plain values, by shm/LAYOUT.md and without any code of the writers: strings and binaries as
 * hex, decimals as their unscaled number, timestamps as {@code ms+nanos}, rows and arrays as lists, maps as lists of
 * pairs.
 */
final class BatchReader {
    private final ByteBuffer batch;
    private final int nodes;
    private int node;
    private int buffer;

    private BatchReader(ByteBuffer batch) {
        this.batch = batch;
        this.nodes = batch.getInt(12);
    }

    /** The rows of a batch, each a list of its fields behind its row kind. */
    static List<List<Object>> read(ByteBuffer segment, int offset, int body, RowType type) {
        ByteBuffer batch = segment.slice(offset, body).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        BatchReader reader = new BatchReader(batch);
        int rows = batch.getInt(8);
        int kinds = reader.nextBuffer();
        boolean allInsert = (batch.getShort(6) & 1) != 0;
        List<List<Object>> columns = new ArrayList<>();
        for (LogicalType field : type.getChildren()) {
            columns.add(reader.column(field));
        }
        List<List<Object>> out = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            List<Object> row = new ArrayList<>();
            row.add(allInsert ? (byte) 0 : batch.get(kinds + i));
            for (List<Object> column : columns) {
                row.add(column.get(i));
            }
            out.add(row);
        }
        return out;
    }

    private int nextBuffer() {
        return (int) batch.getLong(64 + 16 * nodes + 16 * buffer++);
    }

    private List<Object> column(LogicalType type) {
        int length = (int) batch.getLong(64 + 16 * node);
        long nulls = batch.getLong(64 + 16 * node++ + 8);
        List<Object> values = switch (type.getTypeRoot()) {
            case NULL -> new ArrayList<>(java.util.Collections.nCopies(length, null));
            default -> {
                int validity = nextBuffer();
                List<Object> all = values(type, length);
                for (int i = 0; i < length && nulls > 0; i++) {
                    if ((batch.get(validity + i / 8) >> i % 8 & 1) == 0) {
                        all.set(i, null);
                    }
                }
                yield all;
            }
        };
        return values;
    }

    private List<Object> values(LogicalType type, int length) {
        return switch (type.getTypeRoot()) {
            case CHAR, VARCHAR, BINARY, VARBINARY -> bytes(length);
            case ARRAY -> lists(length, type.getChildren().get(0));
            case MAP -> maps(length, type.getChildren().get(0), type.getChildren().get(1));
            case MULTISET -> maps(length, type.getChildren().get(0), new IntType(false));
            case ROW -> structs(length, type.getChildren());
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> timestamps(length);
            default -> fixed(type, length);
        };
    }

    private List<Object> fixed(LogicalType type, int length) {
        int at = nextBuffer();
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            out.add(switch (type.getTypeRoot()) {
                case BOOLEAN -> (batch.get(at + i / 8) >> i % 8 & 1) == 1;
                case TINYINT -> batch.get(at + i);
                case SMALLINT -> batch.getShort(at + 2 * i);
                case INTEGER, DATE, TIME_WITHOUT_TIME_ZONE, INTERVAL_YEAR_MONTH, FLOAT -> batch.getInt(at + 4 * i);
                case BIGINT, INTERVAL_DAY_TIME, DOUBLE -> batch.getLong(at + 8 * i);
                case DECIMAL -> BigInteger.valueOf(batch.getLong(at + 16 * i + 8)).shiftLeft(64)
                        .or(new BigInteger(Long.toUnsignedString(batch.getLong(at + 16 * i))));
                default -> throw new IllegalArgumentException(type.asSummaryString());
            });
        }
        return out;
    }

    private List<Object> bytes(int length) {
        int offsets = nextBuffer();
        int data = nextBuffer();
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            int from = batch.getInt(offsets + 4 * i);
            byte[] value = new byte[batch.getInt(offsets + 4 * i + 4) - from];
            batch.get(data + from, value);
            out.add(HexFormat.of().formatHex(value));
        }
        return out;
    }

    private List<Object> lists(int length, LogicalType element) {
        int offsets = nextBuffer();
        return spans(length, offsets, column(element));
    }

    private List<Object> maps(int length, LogicalType key, LogicalType value) {
        int offsets = nextBuffer();
        node++; // the struct of key and value
        nextBuffer();
        List<Object> keys = column(key);
        List<Object> values = column(value);
        List<Object> entries = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            entries.add(java.util.Arrays.asList(keys.get(i), values.get(i)));
        }
        return spans(length, offsets, entries);
    }

    private List<Object> spans(int length, int offsets, List<Object> elements) {
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            out.add(new ArrayList<>(elements.subList(
                    batch.getInt(offsets + 4 * i), batch.getInt(offsets + 4 * i + 4))));
        }
        return out;
    }

    private List<Object> structs(int length, List<LogicalType> types) {
        List<List<Object>> fields = new ArrayList<>();
        for (LogicalType type : types) {
            fields.add(column(type));
        }
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            List<Object> row = new ArrayList<>();
            for (List<Object> field : fields) {
                row.add(field.get(i));
            }
            out.add(row);
        }
        return out;
    }

    private List<Object> timestamps(int length) {
        node += 2;
        nextBuffer();
        int millis = nextBuffer();
        nextBuffer();
        int nanos = nextBuffer();
        List<Object> out = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            out.add(batch.getLong(millis + 8 * i) + "+" + batch.getInt(nanos + 4 * i));
        }
        return out;
    }
}
