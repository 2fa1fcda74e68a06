package dev.penstock.integration.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Scripts are cut into statements and filled with values. */
class SqlJobTest {

    @Test
    void statementsEndAtTheEndOfALine() {
        assertEquals(List.of("CREATE TABLE t (a STRING)\nWITH ('x' = ';b')", "INSERT INTO t SELECT 1"),
                SqlJob.statements("-- a comment; not code\nCREATE TABLE t (a STRING)\nWITH ('x' = ';b');\n"
                        + "INSERT INTO t SELECT 1"));
    }

    @Test
    void everyVariableNeedsAValue() {
        assertEquals("topic 'x', x", SqlJob.fill("topic '${t}', ${t}", Map.of("t", "x")));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> SqlJob.fill("${rows}", Map.of("t", "x")));
        assertTrue(e.getMessage().contains("${rows}"), e.getMessage());
    }
}
