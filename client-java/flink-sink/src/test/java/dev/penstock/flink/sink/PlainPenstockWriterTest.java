package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class PlainPenstockWriterTest {

    @Test
    void atLeastOnceFlushesAtEveryCheckpointWithTheRowsSinceBegin() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            PlainPenstockWriter writer = fixture.plain(true);
            assertEquals(List.of("begin 1"), fixture.calls());
            writer.write(row(1, "a"), null);
            writer.flush(false);
            assertTrue(writer.prepareCommit().isEmpty());
            assertEquals(List.of(), writer.snapshotState(1));
            writer.write(row(2, "b"), null);
            writer.flush(false);
            assertEquals(List.of("submit last 1", "flush 1 rows 1", "submit last 1", "flush 1 rows 2"), fixture.calls());
        }
    }

    @Test
    void noneFlushesOnlyAtTheEndOfInput() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            PlainPenstockWriter writer = fixture.plain(false);
            fixture.calls();
            writer.write(row(1, "a"), null);
            writer.flush(false);
            assertEquals(List.of(), fixture.calls());
            writer.flush(true);
            assertEquals(List.of("submit last 1", "flush 1 rows 1"), fixture.calls());
        }
    }
}
