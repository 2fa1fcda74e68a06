package columnar

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
)

// valid reads bit i of the validity.
func valid(v *Vector, i int) bool {
	if v.Type.Kind == Null {
		return false
	}
	return v.Validity == nil || v.Validity[i/8]>>(i%8)&1 == 1
}

func bounds(v *Vector, i int) (int, int) {
	return int(int32(binary.LittleEndian.Uint32(v.Offsets[4*i:]))), int(int32(binary.LittleEndian.Uint32(v.Offsets[4*i+4:])))
}

func signed(b []byte) int64 {
	var x [8]byte
	copy(x[:], b)
	shift := 64 - 8*len(b)
	return int64(binary.LittleEndian.Uint64(x[:])) << shift >> shift
}

// cell is the value of element i as the builder takes it; bytes come as string.
func cell(v *Vector, i int) any {
	if !valid(v, i) {
		return nil
	}
	switch v.Type.Kind {
	case Boolean:
		return v.Values[i/8]>>(i%8)&1 == 1
	case Float:
		return math.Float32frombits(binary.LittleEndian.Uint32(v.Values[4*i:]))
	case Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.Values[8*i:]))
	case Decimal:
		return decimalCell(v.Values[16*i : 16*i+16])
	case Char, VarChar, Binary, VarBinary:
		from, to := bounds(v, i)
		return string(v.Values[from:to])
	case Timestamp, TimestampLTZ:
		return TimestampValue{cell(&v.Children[0], i).(int64), int32(cell(&v.Children[1], i).(int64))}
	case Array:
		from, to := bounds(v, i)
		out := []any{}
		for j := from; j < to; j++ {
			out = append(out, cell(&v.Children[0], j))
		}
		return out
	case Map, Multiset:
		from, to := bounds(v, i)
		out := []Entry{}
		for j := from; j < to; j++ {
			out = append(out, Entry{cell(&v.Children[0], j), cell(&v.Children[1], j)})
		}
		return out
	case Row:
		out := []any{}
		for j := range v.Children {
			out = append(out, cell(&v.Children[j], i))
		}
		return out
	}
	w := fixedWidth(v.Type.Kind)
	return signed(v.Values[w*i : w*i+w])
}

func decimalCell(b []byte) *big.Int {
	be := slices.Clone(b)
	slices.Reverse(be)
	x := new(big.Int).SetBytes(be)
	if be[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return x
}

func sameCell(a, b any) bool {
	switch a := a.(type) {
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0
	case string:
		switch b := b.(type) {
		case string:
			return a == b
		case []byte:
			return bytes.Equal([]byte(a), b)
		}
		return false
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameCell)
	case []Entry:
		b, ok := b.([]Entry)
		return ok && slices.EqualFunc(a, b, func(x, y Entry) bool { return sameCell(x.Key, y.Key) && sameCell(x.Value, y.Value) })
	}
	return a == b
}

// walk touches every byte that an encoder may touch. It counts elements, so that nothing is optimised away.
func walk(b *Batch) int {
	n := 0
	for i := range b.Columns {
		for r := range b.Rows {
			n += touch(&b.Columns[i], r)
		}
	}
	return n
}

// touch is cell without building values and with malformed timestamps allowed.
func touch(v *Vector, i int) int {
	if !valid(v, i) {
		return 1
	}
	n := 1
	switch v.Type.Kind {
	case Boolean:
		n += int(v.Values[i/8])
	case Char, VarChar, Binary, VarBinary:
		from, to := bounds(v, i)
		n += len(v.Values[from:to])
	case Timestamp, TimestampLTZ, Row:
		for j := range v.Children {
			n += touch(&v.Children[j], i)
		}
	case Array, Map, Multiset:
		from, to := bounds(v, i)
		for j := from; j < to; j++ {
			for k := range v.Children {
				n += touch(&v.Children[k], j)
			}
		}
	default:
		w := fixedWidth(v.Type.Kind)
		n += len(v.Values[w*i : w*i+w])
	}
	return n
}
