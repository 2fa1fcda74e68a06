package encode

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// Both ends of each length of a varint, behind every length of what stands before it.
func TestVarint(t *testing.T) {
	before := []byte("\x01\x02\x03\x04\x05\x06\x07\x08")
	numbers := []uint64{0, math.MaxUint64}
	for bit := range 64 {
		numbers = append(numbers, 1<<bit-1, 1<<bit, 1<<bit+1, 0x5555_5555_5555_5555>>bit)
	}
	for n := range len(before) + 1 {
		m := mark{binary.LittleEndian.Uint64(before), n}
		for _, v := range numbers {
			want := binary.AppendUvarint(append([]byte("<"), before[:n]...), v)
			if got := appendVarint([]byte("<"), m, v); !bytes.Equal(got, want) {
				t.Errorf("%d bytes before %#x: got %x, want %x", n, v, got, want)
			}
		}
	}
}

// A byte or a sequence outside of ASCII at every position of lengths around the sizes of words and blocks.
func TestSizedText(t *testing.T) {
	for _, special := range []string{"", "\x7f", "\u0080", "\u20ac", "\U0001F600", "\x80", "\xff", "\xe2\x82", "\xed\xa0\x80"} {
		for _, length := range []int{0, 1, 7, 8, 9, 15, 31, 32, 33, 39, 40, 41, 63, 64, 65, 127, 128} {
			for at := 0; at <= length-len(special); at++ {
				text := bytes.Repeat([]byte("a"), length)
				copy(text[at:], special)
				written := appendText(nil, text)
				for shift := range uint(2) {
					want := append(binary.AppendUvarint([]byte("<>"), uint64(len(written))<<shift), written...)
					got := appendSizedText([]byte("<"), mark{'>', 1}, text, shift)
					if !bytes.Equal(got, want) {
						t.Fatalf("%q at %d of %d bytes, shift %d: got %q, want %q", special, at, length, shift, got, want)
					}
				}
			}
		}
	}
}
