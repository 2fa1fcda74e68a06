package encode

import "unicode/utf8"

const (
	// replacement is U+FFFD.
	replacement = "\uFFFD"
	upperHex    = "0123456789ABCDEF"
)

// jsonCare finds controls, the quote and the backslash: a flipped bit takes the quote next to the controls, and nothing else.
var jsonCare = newCare(2, 0x21, '\\')

// appendEscaped writes the content of a JSON string, without the quotes, like Jackson's UTF-8 generator in default mode
// writes what StringData.toString() returns: invalid UTF-8 becomes U+FFFD in the JDK's grouping, and characters above
// U+FFFF become two escapes.
func appendEscaped(dst, s []byte) []byte {
	for {
		var n int
		dst, n = jsonCare.appendClean(dst, s)
		if n == len(s) {
			return dst
		}
		s = s[n:]
		if c := s[0]; c < 0x80 {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		n = plainMultiByte(s)
		dst = append(dst, s[:n]...)
		s = s[n:]
		if len(s) > 0 && s[0] >= 0x80 {
			dst, n = appendOddSequence(dst, s)
			s = s[n:]
		}
	}
}

// appendEscape writes the escape of a control, a quote or a backslash.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
}

func continues(c byte) bool { return c&0xC0 == 0x80 }

// plainMultiByte returns the length of the run of valid sequences of two and three bytes at the start of s.
func plainMultiByte(s []byte) int {
	n := 0
	for n < len(s) {
		switch c := s[n]; {
		case c >= 0xC2 && c <= 0xDF:
			if n+2 > len(s) || !continues(s[n+1]) {
				return n
			}
			n += 2
		case c&0xF0 == 0xE0:
			if n+3 > len(s) || !continues(s[n+1]) || !continues(s[n+2]) {
				return n
			}
			if overlong, surrogate := c == 0xE0 && s[n+1] < 0xA0, c == 0xED && s[n+1] >= 0xA0; overlong || surrogate {
				return n
			}
			n += 3
		default:
			return n
		}
	}
	return n
}

// appendOddSequence writes a character above U+FFFF as a surrogate pair of escapes, or one U+FFFD for what the JDK's decoder
// takes as one malformed unit. It returns how many bytes of s it used.
func appendOddSequence(dst, s []byte) ([]byte, int) {
	n := sequenceLength(s)
	if n == 4 {
		r := uint32(s[0]&7)<<18 | uint32(s[1]&0x3F)<<12 | uint32(s[2]&0x3F)<<6 | uint32(s[3]&0x3F)
		r -= 0x10000
		dst = appendUnitEscape(dst, 0xD800|r>>10)
		return appendUnitEscape(dst, 0xDC00|r&0x3FF), 4
	}
	return append(dst, replacement...), n
}

// sequenceLength returns the length of the valid four-byte sequence or of the malformed unit at the start of s. The JDK ends a
// unit before the first byte that cannot continue it, and takes an encoded surrogate (ED A0..BF xx) as one unit of three.
func sequenceLength(s []byte) int {
	c := s[0]
	want := 1
	switch {
	case c >= 0xF0 && c <= 0xF4:
		want = 4
	case c&0xF0 == 0xE0:
		want = 3
	}
	if want == 1 || len(s) < 2 || !continues(s[1]) {
		return 1
	}
	second := s[1]
	if c == 0xE0 && second < 0xA0 || c == 0xF0 && second < 0x90 || c == 0xF4 && second > 0x8F {
		return 1
	}
	n := 2
	for n < want && n < len(s) && continues(s[n]) {
		n++
	}
	return n
}

// decodeCharacter reads the character at the start of s and returns how many bytes of s it takes; a malformed unit is U+FFFD.
// Go's decoder accepts exactly the sequences that the JDK's accepts; the two differ in how they group malformed bytes.
func decodeCharacter(s []byte) (r rune, n int) {
	if r, n = utf8.DecodeRune(s); r != utf8.RuneError || n > 1 {
		return r, n
	}
	return utf8.RuneError, sequenceLength(s)
}

// appendText writes what StringData.toString() returns as UTF-8: s, with a U+FFFD for each malformed unit.
func appendText(dst, s []byte) []byte {
	if utf8.Valid(s) {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n := decodeCharacter(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}

// textLength is the length of what appendText writes.
func textLength(s []byte) int {
	length := 0
	for len(s) > 0 {
		r, n := decodeCharacter(s)
		length += utf8.RuneLen(r)
		s = s[n:]
	}
	return length
}

func appendUnitEscape(dst []byte, unit uint32) []byte {
	return append(dst, '\\', 'u', upperHex[unit>>12], upperHex[unit>>8&15], upperHex[unit>>4&15], upperHex[unit&15])
}
