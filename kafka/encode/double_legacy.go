package encode

import (
	"math"
	"math/bits"
)

// The digits of JDK 8 to 18 are neither shortest nor always closest, and where the arithmetic fits a machine word they show
// its overflow: the text depends on the very steps, which are these.
//
//	|v| = f * 2^e. f has length bits, zeros of them trailing; n = length - zeros are significant, t of them behind the point.
//	Integers below 2^63 have their exact digits, rounded once to what the type can hold (appendLegacyInteger).
//	Else the decimal exponent D is estimated, and B/S = |v| / 10^D, M/S = half of the distance to the next value, T = 10*S.
//	Each pass takes the digit B div S and goes on with ten times the rest, until the digits so far, or those plus one, lie
//	within M of v (low, high). The last digit is then rounded: up for high alone, to the nearer one for both.
//	B, S and M are 32-bit or 64-bit words where they fit, with M and B+M free to wrap, and unbounded otherwise.

// maxLegacyDigits is more than either type yields (17 or 18 digits, one more for a carry).
const maxLegacyDigits = 32

// appendDoubleLegacy writes v like Double.toString of JDK 8 to 18.
func appendDoubleLegacy(dst []byte, v float64) []byte {
	dst, done := appendSpecial(dst, v)
	if done {
		return dst
	}
	raw := math.Float64bits(v) &^ (1 << 63)
	fraction, exponent := raw&(1<<52-1), int(raw>>52)
	if exponent == 0 {
		return appendLegacy(dst, fraction, -1074, bits.Len64(fraction))
	}
	return appendLegacy(dst, fraction|1<<52, exponent-1075, 53)
}

// appendFloatLegacy writes v like Float.toString of JDK 8 to 18.
func appendFloatLegacy(dst []byte, v float32) []byte {
	dst, done := appendSpecial(dst, float64(v))
	if done {
		return dst
	}
	raw := math.Float32bits(v) &^ (1 << 31)
	fraction, exponent := uint64(raw&(1<<23-1)), int(raw>>23)
	if exponent == 0 {
		return appendLegacy(dst, fraction, -149, bits.Len64(fraction))
	}
	return appendLegacy(dst, fraction|1<<23, exponent-150, 24)
}

// appendLegacy writes f * 2^e; precision is the number of significant bits of the type, or of f for subnormals.
func appendLegacy(dst []byte, f uint64, e, precision int) []byte {
	length := bits.Len64(f)
	binaryExponent := e + length - 1
	zeros := bits.TrailingZeros64(f)
	significant := length - zeros
	fractionBits := max(0, significant-binaryExponent-1)

	g := legacyDigits{}
	if fractionBits == 0 && binaryExponent <= 62 {
		return appendLegacyInteger(dst, f>>zeros<<(binaryExponent-significant+1), binaryExponent, precision)
	}
	g.exponent = estimateExponent(f, length, binaryExponent)
	g.generate(f>>zeros, significant, fractionBits, binaryExponent, precision)
	return appendJavaFloat(dst, g.digits[:g.n], g.exponent+1)
}

// appendLegacyInteger is the case of integers below 2^63: digits beyond the precision of the type are rounded half up, once.
func appendLegacyInteger(dst []byte, v uint64, binaryExponent, precision int) []byte {
	insignificant := 0
	if binaryExponent > precision {
		// floor(x * log10 2), exact for the x up to 37 that occur.
		insignificant = (binaryExponent - precision - 1) * 30103 / 100000
	}
	power := powersOf10[insignificant]
	rest := v % power
	v /= power
	if insignificant > 0 && rest >= power/2 {
		v++
	}
	var buf [maxLegacyDigits]byte
	digits := appendUint(buf[:0], v)
	point := len(digits) + insignificant
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return appendJavaFloat(dst, digits, point)
}

// estimateExponent guesses the decimal exponent; the guess is right or one too large. The conversions forbid the compiler to
// fuse multiplication and addition, which would round differently on some machines.
func estimateExponent(f uint64, length, binaryExponent int) int {
	m := math.Float64frombits(1023<<52 | f<<(53-length)&(1<<52-1))
	d := float64((m-1.5)*0.289529654) + 0.176091259
	d += float64(float64(binaryExponent) * 0.301029995663981)
	return int(math.Floor(d))
}

// legacyDigits collects the digits d1d2..dn of 0.d1d2..dn x 10^(exponent+1).
type legacyDigits struct {
	digits   [maxLegacyDigits]byte
	n        int
	exponent int
}

// scaled holds the powers of 2 and 5 of the fractions B/S (the value), M/S (half the distance to the next value).
type scaled struct {
	b5, s5, b2, s2, m2 int
}

// generate chooses the scale and the width of the arithmetic; f is odd and has n bits, t of them behind the point.
func (g *legacyDigits) generate(f uint64, n, t, binaryExponent, precision int) {
	x := scaled{b5: max(0, -g.exponent), s5: max(0, g.exponent)}
	x.b2 = x.b5 + t + binaryExponent
	x.s2 = x.s5 + t
	x.m2 = x.b2 - precision
	x.b2 -= n - 1
	common := min(x.b2, x.s2)
	x.b2 -= common
	x.s2 -= common
	x.m2 -= common
	if n == 1 {
		// A power of two: the neighbour below is only half as far away.
		x.m2--
	}
	if x.m2 < 0 {
		x.b2 -= x.m2
		x.s2 -= x.m2
		x.m2 = 0
	}
	widthB := n + x.b2 + bitsOfPower5(x.b5)
	widthT := x.s2 + 1 + bitsOfPower5(x.s5+1)
	switch {
	case widthB < 32 && widthT < 32:
		s := int32(power5(x.s5) << x.s2)
		generateWrapping(g, int32(f*power5(x.b5)<<x.b2), s, int32(power5(x.b5)<<x.m2))
	case widthB < 64 && widthT < 64:
		s := int64(power5(x.s5) << x.s2)
		generateWrapping(g, int64(f*power5(x.b5)<<x.b2), s, int64(power5(x.b5)<<x.m2))
	default:
		g.generateUnbounded(f, &x)
	}
}

// bitsOfPower5 is the width that the JDK reckons for 5^i: exact where 5^i fits its table, 3 bits a power above.
func bitsOfPower5(i int) int {
	switch {
	case i == 0:
		return 0
	case i <= 26:
		return bits.Len64(power5(i))
	default:
		return 3 * i
	}
}

// power5 returns 5^i, wrapping beyond 64 bits (i > 27).
func power5(i int) uint64 {
	p := uint64(1)
	for range i {
		p *= 5
	}
	return p
}

// generateWrapping produces digits in machine words. Overflow of M and of B+M is part of the result.
func generateWrapping[T int32 | int64](g *legacyDigits, b, s, m T) {
	t := 10 * s
	low, high := false, false
	for first := true; !low && !high; first = false {
		q := b / s
		b = 10 * (b % s)
		m *= 10
		if m <= 0 && !first {
			low, high = true, true
		} else {
			low, high = b < m, b+m > t
		}
		if g.emit(int(q), high, first) {
			low, high = false, false
		}
	}
	rest := 0
	switch d := b<<1 - t; {
	case d > 0:
		rest = 1
	case d < 0:
		rest = -1
	}
	g.finish(low, high, rest)
}

// generateUnbounded produces digits with numbers of any width.
func (g *legacyDigits) generateUnbounded(f uint64, x *scaled) {
	var b, s, m, t, sum natural
	s.setProduct(1, x.s5, x.s2)
	// Scaling all of them alike changes no comparison and makes quotients easy to estimate.
	shift := s.leadingZeros()
	s.shiftLeft(shift)
	b.setProduct(f, x.b5, x.b2+shift)
	m.setProduct(1, x.b5, x.m2+shift)
	t = s
	t.mulSmall(10)
	low, high := false, false
	for first := true; !low && !high; first = false {
		q := b.divideBy(&s)
		b.mulSmall(10)
		m.mulSmall(10)
		sum.setSum(&b, &m)
		low, high = b.compare(&m) < 0, sum.compare(&t) >= 0
		if g.emit(q, high, first) {
			low, high = false, false
		}
	}
	sum.setSum(&b, &b)
	g.finish(low, high, sum.compare(&t))
}

// emit appends a digit, or corrects the exponent when the guess was one too large. It reports whether digits must go on
// whatever the bounds say: numbers that are written with an exponent get at least a second digit.
func (g *legacyDigits) emit(q int, high, first bool) (goOn bool) {
	if first && q == 0 && !high {
		g.exponent--
	} else {
		g.digits[g.n] = '0' + byte(q)
		g.n++
	}
	return first && (g.exponent < -3 || g.exponent >= 8)
}

// finish rounds the last digit. rest is the sign of 2B - T: the rest compared with half a unit of the last digit.
func (g *legacyDigits) finish(low, high bool, rest int) {
	last := g.digits[g.n-1]
	if !high || low && (rest < 0 || rest == 0 && last&1 == 0) {
		return
	}
	for i := g.n - 1; i >= 0; i-- {
		if g.digits[i] != '9' {
			g.digits[i]++
			return
		}
		g.digits[i] = '0'
	}
	// 9..9 becomes 10..0; the zeros stay, they are printed.
	g.digits[0] = '1'
	g.exponent++
}
