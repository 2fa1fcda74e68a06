/** Writes {@link org.apache.flink.table.data.RowData} as Arrow columns into an extent. */
package dev.penstock.flink.columns;
