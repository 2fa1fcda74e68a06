package dev.penstock.integration.parity;

import dev.penstock.proto.v1.OpenWriter;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** One random table: rows of one type and how they are written, for both sides. */
interface ParitySubject {
    /** Flink's side. */
    interface Oracle {
        /**
         * The record that Flink makes.
         *
         * @throws RuntimeException when it refuses the row; it must not be used again then
         */
        WholeRecord record(RowData row);
    }

    /** The type of the rows. */
    RowType type();

    /**
     * Flink's own serializer, opened.
     *
     * @throws RuntimeException when it refuses the table
     */
    Oracle oracle() throws Exception;

    /**
     * The same for the daemon.
     *
     * @throws RuntimeException when Penstock's planning refuses the table
     */
    OpenWriter open() throws Exception;

    /** The ids that a schema registry gave, which the daemon is told. */
    SchemaNumbers schemas();

    /** Makes {@code row} one that the table takes: of a kind that its format has, with metadata that can be. */
    GenericRowData complete(GenericRowData row);

    /** {@code rows}, each of them completed. */
    default RowSource completed(RowSource rows) {
        return new RowSource() {
            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public GenericRowData next() {
                return complete(rows.next());
            }

            @Override
            public long cells() {
                return rows.cells();
            }
        };
    }
}
