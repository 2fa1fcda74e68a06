package dev.penstock.flink.sink;

import static dev.penstock.flink.sink.WriterFixture.row;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowBatcherTest {

    @Test
    void aBatchIsFullByRows() throws Exception {
        try (WriterFixture fixture = new WriterFixture(WriterFixture.settings(3))) {
            for (int i = 0; i < 7; i++) {
                fixture.batcher.add(row(i, "x"));
            }
            assertEquals(List.of("submit 3", "submit 3"), fixture.calls());
            assertEquals(7, fixture.batcher.epochRows());
            assertEquals(6, fixture.batcher.submittedRows());
        }
    }

    @Test
    void aBatchIsFullByBytesAndNoRowIsLost() throws Exception {
        try (WriterFixture fixture = new WriterFixture(WriterFixture.settings(1_000_000))) {
            fixture.daemon.extentBytes = 4096;
            for (int i = 0; i < 500; i++) {
                fixture.batcher.add(row(i, "x".repeat(i % 90)));
            }
            fixture.batcher.submit();
            List<String> calls = fixture.calls();
            assertTrue(calls.size() > 2, calls.toString());
            assertEquals(500, calls.stream().mapToInt(c -> Integer.parseInt(c.substring(7))).sum());
        }
    }

    @Test
    void aJumboRowGetsAnExtentOfItsSize() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            fixture.daemon.extentBytes = 4096;
            fixture.batcher.add(row(1, "small"));
            fixture.batcher.add(row(2, "x".repeat(100_000)));
            fixture.batcher.submit();
            assertEquals(List.of("submit 1", "submit 1"), fixture.calls());
            assertEquals(0, fixture.daemon.lent);
        }
    }

    @Test
    void aRowAboveTheLargestBatchIsRefusedWithBothSizesAndTheKey() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            fixture.daemon.extentBytes = 4096;
            fixture.daemon.maxBatchBytes = 65536;
            IOException e =
                    assertThrows(IOException.class, () -> fixture.batcher.add(row(1, "x".repeat(100_000))));
            assertTrue(e.getMessage().contains("65536"), e.getMessage());
            assertTrue(e.getMessage().contains("arena.segment"), e.getMessage());
            assertTrue(e.getMessage().matches(".*needs 10\\d{4} bytes.*"), e.getMessage());
            assertEquals(0, fixture.daemon.lent);
        }
    }

    @Test
    void rowsWaitForAShorterTimeNearABarrier() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            fixture.batcher.submitAtBarrier();
            fixture.timers.advance(500);
            fixture.batcher.submitAtBarrier();
            fixture.timers.advance(479);
            fixture.batcher.add(row(1, "a"));
            fixture.timers.advance(9);
            assertEquals(List.of(), fixture.calls(), "21 ms before the barrier");
            fixture.timers.advance(1);
            assertEquals(List.of("submit 1"), fixture.calls());
            fixture.batcher.add(row(2, "b"));
            fixture.timers.advance(2);
            assertEquals(List.of(), fixture.calls());
            fixture.timers.advance(1);
            assertEquals(List.of("submit 1"), fixture.calls(), "11 ms before the barrier");
        }
    }

    @Test
    void rowsWaitForLingerAndNotLonger() throws Exception {
        try (WriterFixture fixture = new WriterFixture()) {
            fixture.batcher.add(row(1, "a"));
            fixture.timers.advance(9);
            fixture.batcher.add(row(2, "b"));
            assertEquals(List.of(), fixture.calls());
            fixture.timers.advance(1);
            assertEquals(List.of("submit 2"), fixture.calls());
        }
    }

    @Test
    void oneTimerServesManyBatchesAndGivesALaterOneItsFullLinger() throws Exception {
        try (WriterFixture fixture = new WriterFixture(WriterFixture.settings(2))) {
            for (int i = 0; i < 6; i++) {
                fixture.batcher.add(row(i, "a"));
            }
            assertEquals(1, fixture.timers.pending());
            fixture.timers.advance(5);
            fixture.batcher.add(row(7, "late"));
            fixture.calls();
            fixture.timers.advance(9);
            assertEquals(List.of(), fixture.calls());
            fixture.timers.advance(1);
            assertEquals(List.of("submit 1"), fixture.calls());
            assertEquals(0, fixture.timers.pending());
        }
    }
}
