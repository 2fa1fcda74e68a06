package encode

import (
	"encoding/binary"
	"math/bits"
)

// maxUnscaled is enough for the digits of any 128-bit magnitude.
const maxUnscaled = 39

// decimalDigits reads the 16-byte little-endian two's complement number in raw and returns its sign and the digits of its
// magnitude without leading zeros ("0" for zero). The digits alias buf.
func decimalDigits(raw []byte, buf *[maxUnscaled]byte) (negative bool, digits []byte) {
	lo := binary.LittleEndian.Uint64(raw[0:8])
	hi := binary.LittleEndian.Uint64(raw[8:16])
	if negative = int64(hi) < 0; negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	if hi == 0 {
		return negative, appendUint(buf[:0], lo)
	}
	hi, lo, low := div1e19(hi, lo)
	if hi == 0 {
		digits = appendUint(buf[:0], lo)
	} else {
		var middle uint64
		_, lo, middle = div1e19(hi, lo)
		digits = appendUint(buf[:0], lo)
		digits = extend(digits, 19)
		putUint(digits[len(digits)-19:], middle)
	}
	digits = extend(digits, 19)
	putUint(digits[len(digits)-19:], low)
	return negative, digits
}

func div1e19(hi, lo uint64) (qhi, qlo, rem uint64) {
	qhi, rem = hi/1e19, hi%1e19
	qlo, rem = bits.Div64(rem, lo, 1e19)
	return qhi, qlo, rem
}

// appendDecimalPlain writes a decimal like BigDecimal.toPlainString: exactly scale digits after the point.
func appendDecimalPlain(dst, raw []byte, scale int) []byte {
	var buf [maxUnscaled]byte
	negative, digits := decimalDigits(raw, &buf)
	if negative {
		dst = append(dst, '-')
	}
	return appendPositional(dst, digits, scale)
}

// appendDecimalScientific writes a decimal like BigDecimal.stripTrailingZeros().toString().
func appendDecimalScientific(dst, raw []byte, scale int) []byte {
	var buf [maxUnscaled]byte
	negative, digits := decimalDigits(raw, &buf)
	if len(digits) == 1 && digits[0] == '0' {
		return append(dst, '0')
	}
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		scale--
	}
	return appendDecimal(dst, negative, digits, scale)
}

// appendDecimalUnstripped writes a decimal like BigDecimal.toString.
func appendDecimalUnstripped(dst, raw []byte, scale int) []byte {
	var buf [maxUnscaled]byte
	negative, digits := decimalDigits(raw, &buf)
	return appendDecimal(dst, negative, digits, scale)
}

// appendDecimal writes digits and scale in the notation of BigDecimal.toString, which has an exponent when the scale is negative or
// the number small.
func appendDecimal(dst []byte, negative bool, digits []byte, scale int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	adjusted := len(digits) - 1 - scale
	if scale >= 0 && adjusted >= -6 {
		return appendPositional(dst, digits, scale)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	// BigDecimal leaves the exponent out when it is 0, which cannot happen here: scale < 0 makes it positive.
	if adjusted < 0 {
		dst = append(dst, 'E', '-')
		return appendUint(dst, uint64(-adjusted))
	}
	dst = append(dst, 'E', '+')
	return appendUint(dst, uint64(adjusted))
}

// appendPositional writes digits with the point before the last scale of them; scale is not negative.
func appendPositional(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	whole := len(digits) - scale
	if whole > 0 {
		dst = append(dst, digits[:whole]...)
		dst = append(dst, '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, '0', '.')
	for range -whole {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
