package encode

import (
	"encoding/binary"
	"math/bits"
)

// The writers of text look at eight bytes at a time in a word, and write whole words where only some of the bytes count: reserve
// makes room for what goes beyond, the next write overwrites it.
const (
	wordBytes = 8
	block     = 4 * wordBytes
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
	// digitZeros has the digit 0 in each byte.
	digitZeros = '0' * lowBits
)

// loadWord reads the first eight bytes of s, the first one lowest.
func loadWord(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }

// storeWord writes a word to the first eight bytes of out, the lowest byte first.
func storeWord(out []byte, w uint64) { binary.LittleEndian.PutUint64(out, w) }

// shortWord reads s, which has fewer than eight bytes, into the low bytes of a word; the bytes above are 0.
func shortWord(s []byte) uint64 {
	n := len(s)
	if n >= 4 {
		// The two halves overlap in equal bytes.
		return uint64(binary.LittleEndian.Uint32(s)) | uint64(binary.LittleEndian.Uint32(s[n-4:]))<<(8*(n-4)&63)
	}
	if n == 0 {
		return 0
	}
	return uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)&63) | uint64(s[n-1])<<(8*(n-1)&63)
}

// eightDigits returns the digits of v, which is below 100,000,000, with leading zeros, as the values 0 to 9 of the bytes of a
// word, the most significant digit lowest. It halves the number three times, in all lanes of the word at once; the
// multipliers are reciprocals that are exact in the range of their lane.
func eightDigits(v uint64) uint64 {
	fours := v / 10_000
	fours |= (v - fours*10_000) << 32
	hundreds := fours * 10_486 >> 20 & 0x0000007F_0000007F
	pairs := hundreds | (fours-hundreds*100)<<16
	tens := pairs * 103 >> 10 & 0x000F000F_000F000F
	return tens | (pairs-tens*10)<<8
}

// lead is the text that stands before every value of a column: a member's name in json, the delimiter in csv. Most fit two
// words, which are stored without a loop.
type lead struct {
	words [2]uint64
	text  []byte
}

func newLead(text []byte) lead {
	l := lead{text: text}
	var padded [2 * wordBytes]byte
	copy(padded[:], text)
	l.words = [2]uint64{loadWord(padded[:]), loadWord(padded[wordBytes:])}
	return l
}

func (l *lead) append(dst []byte) []byte {
	n := len(l.text)
	if n > 2*wordBytes {
		return append(dst, l.text...)
	}
	dst = reserve(dst, 2*wordBytes)
	out := dst[len(dst) : len(dst)+2*wordBytes]
	storeWord(out, l.words[0])
	storeWord(out[wordBytes:], l.words[1])
	return dst[:len(dst)+n]
}

// care says which bytes of a text cannot be copied as they are: a range of ASCII that begins at 0 once a bit is flipped, one
// byte besides, and everything outside of ASCII. Each is repeated in all bytes of a word.
type care struct {
	flip, below, odd uint64
}

// newCare is for the bytes c with c^flip < below, below being at most 0x80, and for the byte odd, which is in ASCII.
func newCare(flip, below, odd byte) care {
	return care{uint64(flip) * lowBits, uint64(below) * lowBits, uint64(odd) * lowBits}
}

// marks has the high bits of the bytes that need care. The lowest mark is exact; those above it may be false, because the
// subtractions borrow.
func (c *care) marks(w uint64) uint64 {
	return (((w ^ c.flip) - c.below) | ((w ^ c.odd) - lowBits) | w) & highBits
}

// find returns where the first byte of s that needs care is, the length of s when there is none.
func (c *care) find(s []byte) int {
	n := len(s)
	if n < wordBytes {
		return min(n, bits.TrailingZeros64(c.marks(shortWord(s)))>>3)
	}
	for i, last := 0, n-wordBytes; ; i = min(i+wordBytes, last) {
		if marks := c.marks(loadWord(s[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3
		}
		if i == last {
			return n
		}
	}
}

// appendClean copies what stands in s before the first byte that needs care, and returns how many bytes that were. The length of
// a text is hard to predict for a processor, so there are few branches on it: the last block overlaps the one before.
func (c *care) appendClean(dst, s []byte) ([]byte, int) {
	n := len(s)
	dst = reserve(dst, n+wordBytes)
	out := dst[len(dst) : len(dst)+n+wordBytes]
	if n < wordBytes {
		w := shortWord(s)
		storeWord(out, w)
		n = min(n, bits.TrailingZeros64(c.marks(w))>>3)
		return dst[:len(dst)+n], n
	}
	i := 0
	if n >= block {
		last := n - block
		for ; ; i = min(i+block, last) {
			from, to := s[i:i+block], out[i:i+block]
			w0, w1, w2, w3 := loadWord(from), loadWord(from[wordBytes:]), loadWord(from[2*wordBytes:]), loadWord(from[3*wordBytes:])
			storeWord(to, w0)
			storeWord(to[wordBytes:], w1)
			storeWord(to[2*wordBytes:], w2)
			storeWord(to[3*wordBytes:], w3)
			if c.marks(w0)|c.marks(w1)|c.marks(w2)|c.marks(w3) != 0 {
				break
			}
			if i == last {
				return dst[:len(dst)+n], n
			}
		}
	}
	for last := n - wordBytes; ; i = min(i+wordBytes, last) {
		w := loadWord(s[i:])
		storeWord(out[i:], w)
		if marks := c.marks(w); marks != 0 {
			i += bits.TrailingZeros64(marks) >> 3
			return dst[:len(dst)+i], i
		}
		if i == last {
			return dst[:len(dst)+n], n
		}
	}
}
