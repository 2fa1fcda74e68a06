package encode

import (
	"math/bits"
	"slices"
)

// digitPairs holds "00" to "99".
const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

var powersOf10 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// countDigits returns the number of decimal digits of v, 1 for 0.
func countDigits(v uint64) int {
	// 1233/4096 is just above log10(2); the table corrects the estimate.
	n := bits.Len64(v|1) * 1233 >> 12
	if v|1 >= powersOf10[n] {
		n++
	}
	return n
}

// reserve makes room for n more bytes.
func reserve(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = slices.Grow(dst, n)
	}
	return dst
}

// extend lengthens dst by n bytes of any content.
func extend(dst []byte, n int) []byte {
	return reserve(dst, n)[:len(dst)+n]
}

// putUint writes v into all of out, right-aligned, padded with zeros.
func putUint(out []byte, v uint64) {
	i := len(out)
	for i >= 2 {
		q := v / 100
		r := (v - q*100) * 2
		v = q
		out[i-1] = digitPairs[r+1]
		out[i-2] = digitPairs[r]
		i -= 2
	}
	if i == 1 {
		out[0] = '0' + byte(v%10)
	}
}

func appendUint(dst []byte, v uint64) []byte {
	if v >= 1e8 {
		high := v / 1e8
		dst = reserve(appendUint(dst, high), wordBytes)
		storeWord(dst[len(dst):len(dst)+wordBytes], eightDigits(v-high*1e8)|digitZeros)
		return dst[:len(dst)+wordBytes]
	}
	dst = reserve(dst, wordBytes)
	n := countDigits(v)
	storeWord(dst[len(dst):len(dst)+wordBytes], (eightDigits(v)|digitZeros)>>(8*(wordBytes-n)&63))
	return dst[:len(dst)+n]
}

func appendInt(dst []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	return appendUint(dst, u)
}
