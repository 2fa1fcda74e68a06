package dev.penstock.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StateWordTest {
    @Test
    void packsAsLayoutSays() {
        assertEquals(0x00000007_03_00002aL, StateWord.of(7, Layout.STATE_CLAIMED, 42));
    }

    @Test
    void unpacksTheLargestValues() {
        long word = StateWord.of(0xffff_ffffL, 255, 0xff_ffff);
        assertEquals(0xffff_ffffL, StateWord.generation(word));
        assertEquals(255, StateWord.state(word));
        assertEquals(0xff_ffff, StateWord.owner(word));
    }

    @Test
    void generationWrapsWithoutTouchingTheRest() {
        assertEquals(StateWord.of(0, Layout.STATE_FREE, 0), StateWord.of(0x1_0000_0000L, Layout.STATE_FREE, 0));
    }

    @Test
    void describesForMessages() {
        assertEquals("PARKED generation 7 owner 3", StateWord.describe(StateWord.of(7, Layout.STATE_PARKED, 3)));
    }
}
