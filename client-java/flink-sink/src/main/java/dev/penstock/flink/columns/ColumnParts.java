package dev.penstock.flink.columns;

import dev.penstock.proto.v1.Format;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.RecordShape;

/**
 * The parts of a record that a column is in. A column in neither is metadata, which no format writes.
 *
 * @param key whether the key has it
 * @param value whether the value has it
 * @param avro whether the format of a part that has it is avro's
 * @param json whether the format of a part that has it is json or wraps json
 */
record ColumnParts(boolean key, boolean value, boolean avro, boolean json) {

    /**
     * The parts of one column of a writer.
     *
     * @param column an index into the fields of the writer's schema
     */
    static ColumnParts of(OpenWriter open, int column) {
        RecordShape shape = open.getShape();
        boolean key = shape.getKeyColumnsList().contains(column);
        boolean value = !open.hasShape() || shape.getValueColumnsList().contains(column);
        return new ColumnParts(
                key,
                value,
                key && shape.getKeyFormat().hasAvro() || value && open.getValueFormat().hasAvro(),
                key && json(shape.getKeyFormat()) || value && json(open.getValueFormat()));
    }

    private static boolean json(Format format) {
        return format.hasJson() || format.hasChangelogJson();
    }
}
