package encode

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// maxUnquoted is the length in UTF-16 units above which Jackson quotes without looking (CsvEncoder.MAX_QUOTE_CHECK).
const maxUnquoted = 24

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
	// quoteWord and doubledWord repeat them in each byte.
	quoteWord, doubledWord uint64
}

func newCSVQuoting(delimiter, quote, escape rune) csvQuoting {
	q := csvQuoting{enabled: true, text: utf8.AppendRune(nil, quote), limit: max(delimiter, quote), quote: quote, doubled: quote}
	asking := '\\'
	if escape != 0 {
		asking, q.doubled = escape, escape
	}
	q.wide = q.quote >= utf8.RuneSelf || q.doubled >= utf8.RuneSelf
	q.quoteWord, q.doubledWord = uint64(q.quote)*lowBits, uint64(q.doubled)*lowBits
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

// asks reports whether s is quoted. s may be malformed; it is judged as it will be written.
func (q *csvQuoting) asks(s []byte) bool {
	if !q.enabled {
		return false
	}
	// No unit takes more than three bytes.
	if len(s) > 3*maxUnquoted {
		return true
	}
	for i, c := range s {
		switch q.classes[c] {
		case askingUnit:
			return true
		case wideUnit:
			return q.asksDecoded(s[i:], i)
		}
		if i == maxUnquoted {
			return true
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
			units++
			// The two surrogates; neither quote nor escape can be one.
			if r -= 0x10000; 0xD800+r>>10 <= q.limit || 0xDC00+r&0x3FF <= q.limit {
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
	if q.wide || !utf8.Valid(s) {
		dst = q.appendDecoded(dst, s)
		return append(dst, q.text...)
	}
	for {
		n := q.harmlessPrefix(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, q.text...)
		}
		dst = append(dst, s[n], s[n])
		s = s[n+1:]
	}
}

// harmlessPrefix returns how many bytes at the start of s are neither the quote nor the escape character, both ASCII.
func (q *csvQuoting) harmlessPrefix(s []byte) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		// The lowest mark is exact; see needsCare.
		a, b := w^q.quoteWord, w^q.doubledWord
		if marks := ((a-lowBits)&^a | (b-lowBits)&^b) & highBits; marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3
		}
	}
	for ; i < len(s); i++ {
		if c := rune(s[i]); c == q.quote || c == q.doubled {
			return i
		}
	}
	return len(s)
}

// appendDecoded is the general case of appendQuoted, character by character.
func (q *csvQuoting) appendDecoded(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := decodeCharacter(s)
		s = s[n:]
		if r == q.quote || r == q.doubled {
			dst = utf8.AppendRune(dst, r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
