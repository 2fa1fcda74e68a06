package dev.penstock.flink.columns;

/** What a null key of a MAP or a MULTISET is to the format that will write it. */
public enum NullKeys {
    /** The format looks for nulls. */
    NULL,

    /**
     * The format reads keys as strings without looking for nulls, as avro's does: a null key is then what the getter
     * returns, which for Flink's binary arrays is an empty string.
     */
    AS_TEXT
}
