package encode

import (
	"encoding/binary"
	"math/bits"
)

// appendMessage writes the fields of row i of cells, without a length. A null is an unset field also in a NOT NULL column: Flink's
// serializers do not look at the nullability.
func (e *Encoder) appendMessage(dst []byte, m *protoMessage, cells []cell, i int) []byte {
	for _, r := range m.required {
		if r.column < 0 || cells[r.column].isNull(i) {
			e.failRequired(r)
		}
	}
	for k := range m.fields {
		f := &m.fields[k]
		c := &cells[f.column]
		if c.isNull(i) {
			continue
		}
		if f.shape == protoImplicit {
			dst = e.appendProtoImplicit(dst, f, c, i)
			continue
		}
		switch f.shape {
		case protoExplicit:
			start := len(dst)
			dst = f.tag.append(dst)
			dst = e.appendProtoValue(dst, &f.value, c, i)
			// Flink builds a message also when a later column replaces it, and so may throw.
			if f.replaced(cells, i) {
				dst = e.discard(dst, start)
			}
		case protoMap:
			dst = e.appendProtoMap(dst, f, c, i)
		default:
			dst = e.appendProtoList(dst, f, c, i)
		}
	}
	return dst
}

// discard takes back what stands from start on, which was written only for its errors. The bytes count as those of the batch do: lists
// of a foreign batch may overlap, so that the work is not bounded by its size.
func (e *Encoder) discard(dst []byte, start int) []byte {
	if e.discarded += len(dst) - start; e.discarded > e.MaxBytes {
		e.fail(e.tooLarge())
	}
	return dst[:start]
}

func (e *Encoder) failRequired(r protoRequired) {
	reason := "Message missing required fields: the field is required and the column is null. Write a value, or filter such rows."
	if r.column < 0 {
		reason = "Message missing required fields: the field is required and the table has no column for it. Add the column."
	}
	e.fail(&RowError{Row: e.row, Column: r.path, Reason: reason})
}

// replaced reports whether a later column has set another member of the oneof.
func (f *protoField) replaced(cells []cell, i int) bool {
	for _, k := range f.rivals {
		if !cells[k].isNull(i) {
			return true
		}
	}
	return false
}

// appendProtoImplicit writes a field without presence, which is left out at its default. Zero is all bits zero: -0.0 is written.
func (e *Encoder) appendProtoImplicit(dst []byte, f *protoField, c *cell, i int) []byte {
	switch f.value.op {
	case protoString:
		if text := c.bytes(i); len(text) != 0 {
			return appendSizedText(dst, f.tag, text, 0)
		}
	case protoBytes:
		if value := c.bytes(i); len(value) != 0 {
			return appendSizedBytes(dst, f.tag, value, 0)
		}
	case protoFixed32:
		if c.uint32(i) != 0 {
			return append(f.tag.append(dst), c.values[i*4:i*4+4]...)
		}
	case protoFixed64:
		if c.uint64(i) != 0 {
			return append(f.tag.append(dst), c.values[i*8:i*8+8]...)
		}
	case protoVarint64:
		if number := c.uint64(i); number != 0 {
			return appendVarint(dst, f.tag, number)
		}
	default:
		if number := f.value.varint(c, i); number != 0 {
			return appendVarint(dst, f.tag, number)
		}
	}
	return dst
}

// appendProtoList writes the elements of a repeated field.
func (e *Encoder) appendProtoList(dst []byte, f *protoField, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	if from == to {
		return dst
	}
	element := &c.children[0]
	if f.shape == protoRepeated {
		for k := from; k < to && !e.stop(dst); k++ {
			dst = f.tag.append(dst)
			dst = e.appendProtoElement(dst, &f.value, element, k)
		}
		return dst
	}
	dst = f.tag.append(dst)
	dst = append(dst, 0)
	mark := len(dst)
	for k := from; k < to && !e.stop(dst); k++ {
		dst = e.appendProtoElement(dst, &f.value, element, k)
	}
	return closeLength(dst, mark)
}

// appendProtoElement writes an element, or a value of a map, which is never left out.
func (e *Encoder) appendProtoElement(dst []byte, v *protoValue, c *cell, i int) []byte {
	if !c.isNull(i) {
		return e.appendProtoValue(dst, v, c, i)
	}
	if v.message != nil && len(v.message.required) != 0 {
		// The default instance of the message lacks the fields that it requires.
		e.failRequired(v.message.required[0])
	}
	return append(dst, v.null...)
}

// appendProtoValue writes element i, which is not null, with its length where values have one.
func (e *Encoder) appendProtoValue(dst []byte, v *protoValue, c *cell, i int) []byte {
	switch v.op {
	case protoFixed32:
		return append(dst, c.values[i*4:i*4+4]...)
	case protoFixed64:
		return append(dst, c.values[i*8:i*8+8]...)
	case protoString:
		return appendSizedText(dst, mark{}, c.bytes(i), 0)
	case protoBytes:
		return appendSizedBytes(dst, mark{}, c.bytes(i), 0)
	case protoMessageValue:
		dst = append(dst, 0)
		mark := len(dst)
		dst = e.appendMessage(dst, v.message, c.children, i)
		return closeLength(dst, mark)
	}
	return appendVarint(dst, mark{}, v.varint(c, i))
}

// varint returns element i of a field whose values are varints on the wire.
func (v *protoValue) varint(c *cell, i int) uint64 {
	switch v.op {
	case protoVarint64:
		return c.uint64(i)
	case protoInt32:
		return signed(int32(c.uint32(i)))
	case protoUint32:
		return uint64(c.uint32(i))
	case protoSint64:
		return zigzag(int64(c.uint64(i)))
	case protoSint32:
		return zigzag(int64(int32(c.uint32(i))))
	case protoBool:
		return uint64(c.values[i>>3] >> (i & 7) & 1)
	}
	return signed(v.enumNumber(c, i))
}

// enumNumber returns the number of element i, a name or a number; what is not declared is the first declared value.
func (v *protoValue) enumNumber(c *cell, i int) int32 {
	var number int32
	var declared bool
	switch v.op {
	case protoEnumName:
		number, declared = v.enum.names[string(c.bytes(i))]
	case protoEnumInt:
		number = int32(c.uint32(i))
		_, declared = v.enum.numbers[number]
	default:
		number = int32(c.uint64(i))
		_, declared = v.enum.numbers[number]
	}
	if !declared {
		return v.enum.first
	}
	return number
}

// signed is an int32 or the number of an enum as a varint has it: a negative one takes ten bytes.
func signed(n int32) uint64 { return uint64(int64(n)) }

func (c *cell) uint32(i int) uint32 { return binary.LittleEndian.Uint32(c.values[i*4:]) }

func (c *cell) uint64(i int) uint64 { return binary.LittleEndian.Uint64(c.values[i*8:]) }

// closeLength writes the length of what stands from mark on. One byte is kept for it in front of mark; a longer one moves the rest.
func closeLength(dst []byte, mark int) []byte {
	n := len(dst) - mark
	if n < 0x80 {
		dst[mark-1] = byte(n)
		return dst
	}
	more := (bits.Len(uint(n)) - 1) / 7
	var room [binary.MaxVarintLen64]byte
	dst = append(dst, room[:more]...)
	copy(dst[mark+more:], dst[mark:])
	binary.PutUvarint(dst[mark-1:], uint64(n))
	return dst
}
