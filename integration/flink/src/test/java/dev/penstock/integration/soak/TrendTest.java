package dev.penstock.integration.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.penstock.integration.soak.Trend.Point;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TrendTest {
    private static Trend of(LongToDoubleFunction value) {
        return Trend.ofSecondHalf(
                LongStream.range(0, 2000).mapToObj(i -> new Point(i, value.applyAsDouble(i))).toList());
    }

    @Test
    void oneMoreForEachHundredCheckpointsGrows() {
        Trend trend = of(i -> 40 + i / 100.0);
        assertEquals(10, trend.perThousand(), 1e-9);
        assertEquals(50, trend.first(), 1e-9);
        assertTrue(trend.grows(4, 0));
        assertFalse(trend.grows(12, 0));
        assertFalse(trend.grows(4, 0.5));
    }

    @Test
    void whatIsTakenOnceAndNoiseDoNot() {
        assertFalse(of(i -> i < 900 ? i : 900).grows(4, 0));
        assertFalse(of(i -> 50 + 10 * (i % 2)).grows(4, 0));
    }

    @Test
    void oneNumberOfCheckpointsIsNoLine() {
        assertThrows(IllegalArgumentException.class,
                () -> Trend.ofSecondHalf(List.of(new Point(1, 1), new Point(1, 2), new Point(1, 3), new Point(1, 4))));
    }
}
