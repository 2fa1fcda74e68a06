package encode

import (
	"bytes"
	"strings"
	"testing"
)

// Every byte at every position of lengths around the sizes of words and blocks.
func TestCare(t *testing.T) {
	for name, c := range map[string]struct {
		care
		clean byte
		needs func(b byte) bool
	}{
		"json":      {jsonCare, 'a', func(b byte) bool { return b < 0x20 || b == '"' || b == '\\' }},
		"csv asks":  {newCare(0, ','+1, '\\'), 'a', func(b byte) bool { return b <= ',' || b == '\\' }},
		"csv wide":  {newCare(0, 0x80, 0), 0x80, func(b byte) bool { return b < 0x80 }},
		"csv quote": {newCare('"', 1, 'e'), 0x7F, func(b byte) bool { return b == '"' || b == 'e' }},
	} {
		for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 39, 40, 41, 63, 65} {
			for at := range n {
				for b := range 256 {
					s := bytes.Repeat([]byte{c.clean}, n)
					s[at] = byte(b)
					want := n
					if c.clean >= 0x80 {
						want = 0
					} else if b >= 0x80 || c.needs(byte(b)) {
						want = at
					}
					out, got := c.appendClean([]byte("<"), s)
					if got != want || string(out) != "<"+string(s[:want]) || c.find(s) != want {
						t.Fatalf("%s: %d bytes with %#x at %d: copied %q, %d, found %d, want %d", name, n, b, at, out, got, c.find(s), want)
					}
				}
			}
		}
	}
}

// No text, and a lead on both sides of what fits two words.
func TestLead(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("x", n)
		l := newLead([]byte(text))
		if got := string(l.append([]byte("<"))); got != "<"+text {
			t.Errorf("%d bytes: got %q", n, got)
		}
	}
}

func TestShortWord(t *testing.T) {
	text := []byte("\x01\x02\x03\x04\x05\x06\x07")
	for n := range 8 {
		if got, want := shortWord(text[:n]), uint64(0x07060504030201)&(1<<(8*n)-1); got != want {
			t.Errorf("%d bytes: got %#x, want %#x", n, got, want)
		}
	}
}

// All of the eight digits in their places, and zeros among them.
func TestEightDigits(t *testing.T) {
	for v := uint64(0); v < 1e8; v += 997 {
		got, rest := eightDigits(v), v
		for shift := 56; shift >= 0; shift -= 8 {
			if digit := got >> shift & 0xFF; digit != rest%10 {
				t.Fatalf("%d: got %#x", v, got)
			}
			rest /= 10
		}
	}
	if got := eightDigits(99_999_999); got != 9*lowBits {
		t.Errorf("got %#x", got)
	}
}
