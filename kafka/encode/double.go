package encode

import "math"

// appendJavaFloat lays digits out like Double.toString and Float.toString: value = 0.d1d2..dn x 10^point. Both generations of
// the JDK share this layout; they differ in the digits.
func appendJavaFloat(dst, digits []byte, point int) []byte {
	n := len(digits)
	switch {
	case point >= 1 && point <= 7:
		if n > point {
			dst = append(dst, digits[:point]...)
			dst = append(dst, '.')
			return append(dst, digits[point:]...)
		}
		dst = append(dst, digits...)
		for range point - n {
			dst = append(dst, '0')
		}
		return append(dst, '.', '0')
	case point >= -2 && point <= 0:
		dst = append(dst, '0', '.')
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0], '.')
	if n > 1 {
		dst = append(dst, digits[1:]...)
	} else {
		dst = append(dst, '0')
	}
	dst = append(dst, 'E')
	return appendInt(dst, int64(point-1))
}

// appendSpecial writes NaN, the infinities and zero; done is false for every other value, of which it writes the sign.
func appendSpecial(dst []byte, v float64) (out []byte, done bool) {
	switch {
	case v != v:
		return append(dst, "NaN"...), true
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...), true
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...), true
	}
	if math.Signbit(v) {
		dst = append(dst, '-')
	}
	if v == 0 {
		return append(dst, '0', '.', '0'), true
	}
	return dst, false
}
