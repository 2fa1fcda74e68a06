package encode

import (
	"strings"
	"unicode/utf8"
)

// maxUnquoted is the length in UTF-16 units above which Jackson quotes without looking (CsvEncoder.MAX_QUOTE_CHECK).
const maxUnquoted = 24

// maxSurrogate is the last UTF-16 unit that is half of a character.
const maxSurrogate = 0xDFFF

// csvQuoting decides which texts are quoted, by the loose check of Jackson's CsvEncoder, and quotes them. The zero value
// quotes nothing.
type csvQuoting struct {
	enabled bool
	// mark is the quote character in UTF-8.
	mark lead
	// timestamps says that every timestamp is quoted and that nothing in it is doubled.
	timestamps bool
	// asking finds what asks for quotes; limit is the highest UTF-16 unit that does so by its rank.
	asking care
	limit  rune
	// odd asks whatever its rank is: the escape character, or a backslash when there is none.
	odd rune
	// quote and doubled are written twice between quotes. doubled is the escape character, or quote when there is none.
	quote, doubled rune
	// twice finds them.
	twice care
	// wide says that one of them is outside of ASCII.
	wide bool
}

func newCSVQuoting(delimiter, quote, escape rune) csvQuoting {
	q := csvQuoting{
		enabled: true, mark: newLead(utf8.AppendRune(nil, quote)), limit: max(delimiter, quote), odd: '\\',
		quote: quote, doubled: quote,
	}
	if escape != 0 {
		q.odd, q.doubled = escape, escape
	}
	q.wide = q.quote >= utf8.RuneSelf || q.doubled >= utf8.RuneSelf
	q.asking = newCare(0, byte(min(q.limit+1, utf8.RuneSelf)), ascii(q.odd))
	q.twice = newCare(ascii(q.quote), 1, ascii(q.doubled))
	const inTimestamps = "0123456789-:. +Z"
	q.timestamps = q.limit >= ' ' && !strings.ContainsRune(inTimestamps, q.quote) && !strings.ContainsRune(inTimestamps, q.doubled)
	return q
}

// ascii is c, or NUL when c is outside of ASCII: it always asks for quotes and hardly ever comes up inside of them.
func ascii(c rune) byte {
	if c >= utf8.RuneSelf {
		return 0
	}
	return byte(c)
}

// verdict says how a text is written.
type verdict uint8

const (
	// asIs is for texts of harmless ASCII.
	asIs verdict = iota
	// decoded is for texts without quotes that may be malformed.
	decoded
	quoted
)

// judge looks whether s is quoted. s may be malformed; it is judged as it will be written.
func (q *csvQuoting) judge(s []byte) verdict {
	if !q.enabled {
		return decoded
	}
	// No unit takes more than three bytes.
	if len(s) > 3*maxUnquoted {
		return quoted
	}
	if len(s) > maxUnquoted {
		// One unit more than that in ASCII alone.
		words := loadWord(s) | loadWord(s[8:]) | loadWord(s[16:])
		if (words|uint64(s[maxUnquoted]))&highBits == 0 {
			return quoted
		}
	}
	i := q.asking.find(s)
	switch {
	case i == len(s):
		return asIs
	case s[i] < utf8.RuneSelf || q.asksDecoded(s[i:], i):
		return quoted
	}
	return decoded
}

// asksDecoded looks at the characters of s, which follow a number of harmless units.
func (q *csvQuoting) asksDecoded(s []byte, units int) bool {
	for len(s) > 0 {
		r, n := decodeCharacter(s)
		s = s[n:]
		units++
		switch {
		case r > 0xFFFF:
			// Two surrogates. The limit is none, so that it is below both or above both.
			units++
			if q.limit > maxSurrogate {
				return true
			}
		case r <= q.limit || r == q.odd:
			return true
		}
	}
	return units > maxUnquoted
}

// appendString writes a string field.
func (q *csvQuoting) appendString(dst, s []byte) []byte {
	switch q.judge(s) {
	case quoted:
		return q.appendQuoted(dst, s)
	case asIs:
		return append(dst, s...)
	}
	return appendText(dst, s)
}

// appendQuoted writes s between quotes. Only the quote and the escape character are doubled; everything else stays, line ends
// included.
func (q *csvQuoting) appendQuoted(dst, s []byte) []byte {
	dst = q.mark.append(dst)
	for {
		var n int
		dst, n = q.twice.appendClean(dst, s)
		s = s[n:]
		if len(s) == 0 {
			return q.mark.append(dst)
		}
		if c := s[0]; c < utf8.RuneSelf {
			dst = append(dst, c)
			if rune(c) == q.quote || rune(c) == q.doubled {
				dst = append(dst, c)
			}
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
}

// appendDecoded writes the character at the start of s, which is outside of ASCII, and returns how many bytes of s it took.
func (q *csvQuoting) appendDecoded(dst, s []byte) ([]byte, int) {
	r, n := decodeCharacter(s)
	if r == q.quote || r == q.doubled {
		dst = utf8.AppendRune(dst, r)
	}
	return utf8.AppendRune(dst, r), n
}
