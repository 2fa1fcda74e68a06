package dev.penstock.flink.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ExpectedBarrierTest {
    private final ExpectedBarrier barrier = new ExpectedBarrier();

    @Test
    void oneBarrierTellsNothing() {
        assertFalse(barrier.isNear(0));
        barrier.passed(1_000);
        assertFalse(barrier.isNear(1_000));
        assertFalse(barrier.isNear(2_000));
    }

    @Test
    void theNextIsAsFarAsTheLast() {
        barrier.passed(1_000);
        barrier.passed(1_500);
        Map.of(1_979L, false, 1_980L, true, 2_000L, true, 2_020L, true, 2_021L, false, 2_500L, false)
                .forEach((now, near) -> assertEquals(near, barrier.isNear(now), "at " + now));
        barrier.passed(1_700);
        assertEquals(true, barrier.isNear(1_900), "the distance is that of the last two");
        assertFalse(barrier.isNear(2_000));
    }
}
