package encode

import (
	"math"
	"math/bits"
	"strconv"
)

// appendDoubleShortest writes v like Double.toString of JDK 19 and newer (JDK-4511638).
func appendDoubleShortest(dst []byte, v float64) []byte {
	dst, done := appendSpecial(dst, v)
	if done {
		return dst
	}
	return appendShortest(dst, math.Abs(v), 64)
}

// appendFloatShortest writes v like Float.toString of JDK 19 and newer.
func appendFloatShortest(dst []byte, v float32) []byte {
	dst, done := appendSpecial(dst, float64(v))
	if done {
		return dst
	}
	return appendShortest(dst, math.Abs(float64(v)), 32)
}

// appendShortest writes the shortest decimal that rounds to v, the closest one of that length, and of two equally close ones
// the even one. strconv finds it but for two differences. Where one digit is enough the JDK looks among decimals of two
// digits as well (4.9E-324, where the shortest is 5E-324); that matters only among the smallest subnormals, as elsewhere
// two-digit decimals lie further apart than neighbouring floats. And strconv does not prefer the even one of two equally
// close decimals (2^-12 as a float is 2.4414062E-4).
func appendShortest(dst []byte, v float64, bitSize int) []byte {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], v, 'e', -1, bitSize)
	if text[1] == 'e' {
		text = nearest(text, v, 2, bitSize)
	}
	digits, point := splitScientific(text)
	if digits[len(digits)-1]&1 != 0 && lowestBit(v) == point-len(digits)-1 {
		// v is an odd multiple of half a unit of the last digit, which is odd: a tie.
		digits, point = splitScientific(nearest(text, v, len(digits), bitSize))
	}
	return appendJavaFloat(dst, digits, point)
}

// nearest overwrites text with the decimal of n digits that is nearest to v, half to even, if that one rounds to v and does
// not end in zero; a shorter decimal is in text already then.
func nearest(text []byte, v float64, n, bitSize int) []byte {
	var buf [32]byte
	near := strconv.AppendFloat(buf[:0], v, 'e', n-1, bitSize)
	if n > 1 && near[n] == '0' {
		return text
	}
	if back, err := strconv.ParseFloat(string(near), bitSize); err != nil || back != v {
		return text
	}
	return append(text[:0], near...)
}

// lowestBit returns the exponent of the lowest set bit of v, which is finite and not zero.
func lowestBit(v float64) int {
	raw := math.Float64bits(v)
	fraction, exponent := raw&(1<<52-1), int(raw>>52&0x7FF)
	if exponent == 0 {
		return bits.TrailingZeros64(fraction) - 1074
	}
	return bits.TrailingZeros64(fraction|1<<52) + exponent - 1075
}

// splitScientific takes d[.ddd]e±xx apart into digits, for which it moves the first one within text, and the position of the
// point before the first digit. Splitting the same text again gives the same.
func splitScientific(text []byte) (digits []byte, point int) {
	e := len(text) - 1
	for text[e] != 'e' {
		e--
	}
	exponent := 0
	for _, c := range text[e+2:] {
		exponent = exponent*10 + int(c-'0')
	}
	if text[e+1] == '-' {
		exponent = -exponent
	}
	if e == 1 {
		return text[:1], exponent + 1
	}
	text[1] = text[0]
	return text[1:e], exponent + 1
}
