package dev.penstock.flink.columns;

import dev.penstock.proto.v1.OpenWriter;

/** What a null key of a MAP or a MULTISET is to the format that will write it. */
public enum NullKeys {
    /** The format looks for nulls. */
    NULL,

    /**
     * The format reads keys as strings without looking for nulls, as avro's does: a null key is then what the getter
     * returns, which for Flink's binary arrays is an empty string.
     */
    AS_TEXT;

    /**
     * What the null keys of a column are to the formats of the key and the value that the column is in.
     *
     * @param column an index into the fields of the writer's schema
     */
    public static NullKeys of(OpenWriter open, int column) {
        return ColumnParts.of(open, column).avro() ? AS_TEXT : NULL;
    }
}
