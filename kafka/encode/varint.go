package encode

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// varintBits is how large a number spreadVarint takes.
const varintBits = 7 * wordBytes

// mark is what stands before a value, at most a word: the branch of a union in avro, number and wire type in protobuf. The zero value
// is nothing.
type mark struct {
	word   uint64
	length int
}

func (m mark) append(dst []byte) []byte {
	dst = reserve(dst, wordBytes)
	storeWord(dst[len(dst):len(dst)+wordBytes], m.word)
	return dst[:len(dst)+m.length]
}

// appendVarint writes v as a varint, seven bits in a byte, the lowest first. How many bytes it takes is hard to predict for a
// processor, so that all but the largest numbers go without a branch.
func appendVarint(dst []byte, m mark, v uint64) []byte {
	dst = reserve(dst, 2*wordBytes)
	at := len(dst) + m.length
	storeWord(dst[len(dst):len(dst)+wordBytes], m.word)
	if v>>varintBits != 0 {
		return binary.AppendUvarint(dst[:at], v)
	}
	word, n := spreadVarint(v)
	storeWord(dst[at:at+wordBytes], word)
	return dst[:at+n]
}

// spreadVarint returns the varint of a number of at most varintBits as the low bytes of a word, and how many they are. It moves the
// groups of seven bits apart in three steps.
func spreadVarint(v uint64) (word uint64, n int) {
	// A seventh of the bits, rounded up, and one byte for 0.
	n = (9*bits.Len64(v) + 64) >> 6
	v = v&0x0FFF_FFFF | v&0x00FF_FFFF_F000_0000<<4
	v = v&0x0000_3FFF_0000_3FFF | v&0x0FFF_C000_0FFF_C000<<2
	v = v&0x007F_007F_007F_007F | v&0x3F80_3F80_3F80_3F80<<1
	// All bytes but the last one say that more follow.
	return v | highBits&(1<<(8*(n-1)&63)-1), n
}

// zigzag keeps numbers small whatever their sign.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// appendSizedBytes writes the length of s, shifted to the left, as a varint, and then s.
func appendSizedBytes(dst []byte, m mark, s []byte, shift uint) []byte {
	return append(appendVarint(dst, m, uint64(len(s))<<shift), s...)
}

// appendSizedText writes what StringData.toString() returns as UTF-8, behind its length as appendSizedBytes does.
func appendSizedText(dst []byte, m mark, s []byte, shift uint) []byte {
	dst = reserve(dst, len(s)+3*wordBytes)
	start := len(dst)
	storeWord(dst[start:start+wordBytes], m.word)
	at := start + m.length
	word, n := uint64(len(s))<<shift, 1
	if word >= 0x80 {
		word, n = spreadVarint(word)
	}
	storeWord(dst[at:at+wordBytes], word)
	dst, ascii := appendASCII(dst[:at+n], s)
	if ascii || utf8.Valid(s) {
		return dst
	}
	dst = appendVarint(dst[:start], m, uint64(textLength(s))<<shift)
	return appendText(dst, s)
}

// appendASCII copies s and reports whether all of it is ASCII. As in appendClean there are few branches on the length.
func appendASCII(dst, s []byte) ([]byte, bool) {
	n := len(s)
	dst = reserve(dst, n+wordBytes)
	out := dst[len(dst) : len(dst)+n+wordBytes]
	dst = dst[:len(dst)+n]
	if n < wordBytes {
		w := shortWord(s)
		storeWord(out, w)
		return dst, w&highBits == 0
	}
	seen := uint64(0)
	if n >= block {
		for i, last := 0, n-block; ; i = min(i+block, last) {
			from, to := s[i:i+block], out[i:i+block]
			w0, w1, w2, w3 := loadWord(from), loadWord(from[wordBytes:]), loadWord(from[2*wordBytes:]), loadWord(from[3*wordBytes:])
			storeWord(to, w0)
			storeWord(to[wordBytes:], w1)
			storeWord(to[2*wordBytes:], w2)
			storeWord(to[3*wordBytes:], w3)
			seen |= w0 | w1 | w2 | w3
			if i == last {
				return dst, seen&highBits == 0
			}
		}
	}
	for i, last := 0, n-wordBytes; ; i = min(i+wordBytes, last) {
		w := loadWord(s[i:])
		storeWord(out[i:], w)
		seen |= w
		if i == last {
			return dst, seen&highBits == 0
		}
	}
}
