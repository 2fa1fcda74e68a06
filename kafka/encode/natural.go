package encode

import "math/bits"

// naturalWords bounds a natural: the largest number that double_legacy.go builds has about 1,130 bits.
const naturalWords = 20

// natural is an unsigned integer of fixed capacity that lives on the stack; math/big would allocate for every value.
// Words beyond n are garbage, the word at n-1 is not zero. Exceeding the capacity panics.
type natural struct {
	words [naturalWords]uint64
	n     int
}

// setProduct sets x to f * 5^p5 * 2^p2.
func (x *natural) setProduct(f uint64, p5, p2 int) {
	x.words[0], x.n = f, 1
	for p5 > 0 {
		step := min(p5, 27)
		x.mulSmall(power5(step))
		p5 -= step
	}
	x.shiftLeft(p2)
}

func (x *natural) mulSmall(f uint64) {
	carry := uint64(0)
	for i := range x.words[:x.n] {
		hi, lo := bits.Mul64(x.words[i], f)
		var c uint64
		x.words[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	x.push(carry)
}

// push appends a most significant word unless it is zero.
func (x *natural) push(word uint64) {
	if word != 0 {
		x.words[x.n] = word
		x.n++
	}
}

// leadingZeros returns the number of unused bits of the top word.
func (x *natural) leadingZeros() int { return bits.LeadingZeros64(x.words[x.n-1]) }

func (x *natural) shiftLeft(k int) {
	if x.n == 0 || k == 0 {
		return
	}
	if rest := k % 64; rest != 0 {
		carry := uint64(0)
		for i, w := range x.words[:x.n] {
			x.words[i] = w<<rest | carry
			carry = w >> (64 - rest)
		}
		x.push(carry)
	}
	if whole := k / 64; whole != 0 {
		copy(x.words[whole:x.n+whole], x.words[:x.n])
		clear(x.words[:whole])
		x.n += whole
	}
}

func (x *natural) compare(y *natural) int {
	if x.n != y.n {
		if x.n < y.n {
			return -1
		}
		return 1
	}
	for i := x.n - 1; i >= 0; i-- {
		if x.words[i] != y.words[i] {
			if x.words[i] < y.words[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// setSum sets x to a + b; x may be neither of them.
func (x *natural) setSum(a, b *natural) {
	if a.n < b.n {
		a, b = b, a
	}
	carry := uint64(0)
	for i := range a.words[:a.n] {
		w := uint64(0)
		if i < b.n {
			w = b.words[i]
		}
		x.words[i], carry = bits.Add64(a.words[i], w, carry)
	}
	x.n = a.n
	x.push(carry)
}

// divideBy sets x to x mod s and returns x div s, which must be below 10. The top bit of s must be set.
func (x *natural) divideBy(s *natural) int {
	q := x.estimate(s)
	if q > 0 {
		x.subtract(s, q)
	}
	for x.compare(s) >= 0 {
		x.subtract(s, 1)
		q++
	}
	return int(q)
}

// estimate returns the quotient or one less, from the top words.
func (x *natural) estimate(s *natural) uint64 {
	if x.n < s.n {
		return 0
	}
	divisor := s.words[s.n-1] + 1
	var top uint64
	if x.n > s.n {
		top = x.words[s.n]
	}
	if divisor == 0 {
		return top
	}
	q, _ := bits.Div64(top, x.words[s.n-1], divisor)
	return q
}

// subtract sets x to x - q*s, which must not be negative.
func (x *natural) subtract(s *natural, q uint64) {
	var borrow, carry uint64
	for i := range x.words[:x.n] {
		hi, lo := uint64(0), uint64(0)
		if i < s.n {
			hi, lo = bits.Mul64(s.words[i], q)
		}
		var c uint64
		lo, c = bits.Add64(lo, carry, 0)
		carry = hi + c
		x.words[i], borrow = bits.Sub64(x.words[i], lo, borrow)
	}
	for x.n > 0 && x.words[x.n-1] == 0 {
		x.n--
	}
}
