package encode

import (
	"encoding/binary"
	"math"
)

// appendScalar writes element i of a BOOLEAN, an integer, an interval or a DECIMAL: what the text formats spell alike and never
// quote.
func (c *cell) appendScalar(dst []byte, i int) []byte {
	switch c.op {
	case opBool:
		if c.bit(i) {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case opInt8:
		return appendInt(dst, int64(int8(c.values[i])))
	case opInt16:
		return appendInt(dst, int64(int16(binary.LittleEndian.Uint16(c.values[i*2:]))))
	case opInt32:
		return appendInt(dst, int64(int32(binary.LittleEndian.Uint32(c.values[i*4:]))))
	case opInt64:
		return appendInt(dst, int64(binary.LittleEndian.Uint64(c.values[i*8:])))
	case opDecimalPlain:
		return appendDecimalPlain(dst, c.values[i*16:i*16+16], c.scale)
	case opDecimalScientific:
		return appendDecimalScientific(dst, c.values[i*16:i*16+16], c.scale)
	case opDecimalUnstripped:
		return appendDecimalUnstripped(dst, c.values[i*16:i*16+16], c.scale)
	}
	panic("encode: an instruction without code")
}

// appendFloating writes element i of a FLOAT or a DOUBLE; NaN and the infinities are bare words.
func (c *cell) appendFloating(dst []byte, i int) []byte {
	switch c.op {
	case opDoubleLegacy:
		return appendDoubleLegacy(dst, c.float64(i))
	case opDoubleShortest:
		return appendDoubleShortest(dst, c.float64(i))
	case opFloatLegacy:
		return appendFloatLegacy(dst, c.float32(i))
	}
	return appendFloatShortest(dst, c.float32(i))
}

func (c *cell) bit(i int) bool { return c.values[i>>3]>>(i&7)&1 != 0 }

func (c *cell) float64(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(c.values[i*8:]))
}

func (c *cell) float32(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(c.values[i*4:]))
}
