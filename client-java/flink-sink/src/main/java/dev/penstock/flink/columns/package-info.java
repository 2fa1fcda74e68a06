/**
 * Writes {@link org.apache.flink.table.data.RowData} as Arrow columns into an extent.
 * {@link dev.penstock.flink.columns.RowColumnWriter} is the way in; below it one
 * {@link dev.penstock.flink.columns.ColumnWriter} for each field of the row type, which knows how to read its value
 * from a binary row's memory, from any other row, and from an array.
 */
package dev.penstock.flink.columns;
