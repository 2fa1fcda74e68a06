package encode

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// maxUnquoted is the length in UTF-16 units above which Jackson quotes without looking (CsvEncoder.MAX_QUOTE_CHECK).
const maxUnquoted = 24

// maxSurrogate is the last UTF-16 unit that is half of a character.
const maxSurrogate = 0xDFFF

// unitClass says what a byte of a text means for the question whether to quote it.
type unitClass uint8

const (
	plainUnit unitClass = iota
	// askingUnit asks for quotes.
	askingUnit
	// wideUnit begins or continues a character outside of ASCII, which must be decoded.
	wideUnit
)

// csvQuoting decides which texts are quoted, by the loose check of Jackson's CsvEncoder, and quotes them. The zero value
// quotes nothing.
type csvQuoting struct {
	enabled bool
	// text is the quote character in UTF-8.
	text []byte
	// timestamps says that every timestamp is quoted and that nothing in it is doubled.
	timestamps bool
	classes    [256]unitClass
	// limit is the highest UTF-16 unit that asks for quotes by its rank.
	limit rune
	// quote and doubled ask for quotes too, and are written twice inside of them. doubled is the escape character, or quote when
	// there is none.
	quote, doubled rune
	// wide says that one of them is outside of ASCII.
	wide bool
	// quoteWord and doubledWord repeat them in each byte, or a byte that ASCII lacks when they are outside of it.
	quoteWord, doubledWord uint64
}

func newCSVQuoting(delimiter, quote, escape rune) csvQuoting {
	q := csvQuoting{enabled: true, text: utf8.AppendRune(nil, quote), limit: max(delimiter, quote), quote: quote, doubled: quote}
	asking := '\\'
	if escape != 0 {
		asking, q.doubled = escape, escape
	}
	q.wide = q.quote >= utf8.RuneSelf || q.doubled >= utf8.RuneSelf
	q.quoteWord, q.doubledWord = repeated(q.quote), repeated(q.doubled)
	for c := range rune(len(q.classes)) {
		switch {
		case c >= utf8.RuneSelf:
			q.classes[c] = wideUnit
		case c <= q.limit || c == asking:
			q.classes[c] = askingUnit
		}
	}
	const inTimestamps = "0123456789-:. +Z"
	q.timestamps = q.limit >= ' ' && !strings.ContainsRune(inTimestamps, q.quote) && !strings.ContainsRune(inTimestamps, q.doubled)
	return q
}

func repeated(c rune) uint64 { return uint64(min(c, 0xFF)) * lowBits }

// asks reports whether s is quoted. s may be malformed; it is judged as it will be written.
func (q *csvQuoting) asks(s []byte) bool {
	if !q.enabled {
		return false
	}
	// No unit takes more than three bytes.
	if len(s) > 3*maxUnquoted {
		return true
	}
	if len(s) > maxUnquoted {
		// One unit more than that in ASCII alone.
		words := binary.LittleEndian.Uint64(s) | binary.LittleEndian.Uint64(s[8:]) | binary.LittleEndian.Uint64(s[16:])
		if (words|uint64(s[maxUnquoted]))&highBits == 0 {
			return true
		}
	}
	for i, c := range s {
		switch q.classes[c] {
		case askingUnit:
			return true
		case wideUnit:
			return q.asksDecoded(s[i:], i)
		}
	}
	return false
}

// asksDecoded looks at the characters of s, which follow a number of harmless units.
func (q *csvQuoting) asksDecoded(s []byte, units int) bool {
	for len(s) > 0 {
		r, n := decodeCharacter(s)
		s = s[n:]
		units++
		switch {
		case r < utf8.RuneSelf:
			if q.classes[r] == askingUnit {
				return true
			}
		case r > 0xFFFF:
			// Two surrogates. The limit is none, so that it is below both or above both.
			units++
			if q.limit > maxSurrogate {
				return true
			}
		case r <= q.limit || r == q.doubled:
			return true
		}
	}
	return units > maxUnquoted
}

// appendString writes a string field.
func (q *csvQuoting) appendString(dst, s []byte) []byte {
	if q.asks(s) {
		return q.appendQuoted(dst, s)
	}
	return appendText(dst, s)
}

// appendQuoted writes s between quotes. Only the quote and the escape character are doubled; everything else stays, line ends
// included.
func (q *csvQuoting) appendQuoted(dst, s []byte) []byte {
	dst = append(dst, q.text...)
	for len(s) > 0 {
		n := q.harmlessPrefix(s)
		dst = append(dst, s[:n]...)
		s = s[n:]
		if len(s) == 0 {
			break
		}
		if c := s[0]; c < utf8.RuneSelf {
			dst = append(dst, c, c)
			s = s[1:]
			continue
		}
		if !q.wide {
			n = plainMultiByte(s)
			dst = append(dst, s[:n]...)
			s = s[n:]
		}
		if len(s) > 0 && s[0] >= utf8.RuneSelf {
			dst, n = q.appendDecoded(dst, s)
			s = s[n:]
		}
	}
	return append(dst, q.text...)
}

// appendDecoded writes the character at the start of s, which is outside of ASCII, and returns how many bytes of s it took.
func (q *csvQuoting) appendDecoded(dst, s []byte) ([]byte, int) {
	r, n := decodeCharacter(s)
	if r == q.quote || r == q.doubled {
		dst = utf8.AppendRune(dst, r)
	}
	return utf8.AppendRune(dst, r), n
}

// needsCare marks the bytes of a word that are quote, escape character or outside of ASCII. The lowest mark is exact.
func (q *csvQuoting) needsCare(w uint64) uint64 {
	a, b := w^q.quoteWord, w^q.doubledWord
	return ((a-lowBits)&^a | (b-lowBits)&^b | w) & highBits
}

// harmlessPrefix returns how many bytes at the start of s go between quotes unchanged.
func (q *csvQuoting) harmlessPrefix(s []byte) int {
	n := len(s)
	if n < 8 {
		for i, c := range s {
			if c >= utf8.RuneSelf || rune(c) == q.quote || rune(c) == q.doubled {
				return i
			}
		}
		return n
	}
	for i := 0; i+8 <= n; i += 8 {
		if marks := q.needsCare(binary.LittleEndian.Uint64(s[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3
		}
	}
	// The last word overlaps bytes that are harmless already.
	if marks := q.needsCare(binary.LittleEndian.Uint64(s[n-8:])); marks != 0 {
		return n - 8 + bits.TrailingZeros64(marks)>>3
	}
	return n
}
