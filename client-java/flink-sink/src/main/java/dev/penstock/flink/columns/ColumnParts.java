package dev.penstock.flink.columns;

import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.RecordShape;

/**
 * The parts of a record that a column is in. A column in neither is metadata, which no format writes.
 *
 * @param key whether the key has it
 * @param value whether the value has it
 * @param avro whether the format of a part that has it is avro's
 */
record ColumnParts(boolean key, boolean value, boolean avro) {

    /**
     * The parts of one column of a writer.
     *
     * @param column an index into the fields of the writer's schema
     */
    static ColumnParts of(OpenWriter open, int column) {
        RecordShape shape = open.getShape();
        boolean key = shape.getKeyColumnsList().contains(column);
        boolean value = !open.hasShape() || shape.getValueColumnsList().contains(column);
        boolean avro = key && shape.getKeyFormat().hasAvro() || value && open.getValueFormat().hasAvro();
        return new ColumnParts(key, value, avro);
    }
}
