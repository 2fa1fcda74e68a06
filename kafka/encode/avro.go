package encode

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// NoSchemaID says that a record of a registry format was to be written before SetSchemaID. The caller is at fault, not the batch.
type NoSchemaID struct {
	// Format is that of Plan.Format.
	Format string
}

// Error says what to do.
func (e *NoSchemaID) Error() string {
	return e.Format + ": the id of the schema is not known: send the one that the schema registry gave, before the first batch"
}

// avroFrame is what the registry formats write before each record (ConfluentSchemaRegistryCoder): a zero byte, and the id of the
// schema, big endian.
type avroFrame struct {
	bytes [5]byte
	set   bool
}

// SetSchemaID tells the id that the schema registry gave to the schema of the plan. It is needed before the first record when
// NeedsSchemaID, and has no effect otherwise.
func (e *Encoder) SetSchemaID(id int32) {
	e.frame.set = true
	binary.BigEndian.PutUint32(e.frame.bytes[1:], uint32(id))
}

// SchemaID returns the id that SetSchemaID told, if it did.
func (e *Encoder) SchemaID() (id int32, set bool) {
	return int32(binary.BigEndian.Uint32(e.frame.bytes[1:])), e.frame.set
}

// NeedsSchemaID tells whether the format writes the id of its schema into each record.
func (e *Encoder) NeedsSchemaID() bool { return e.plan.avro.registry }

// appendAvro writes row i as avro's binary encoding of a record of the schema that AvroSchemaConverter derives.
func (e *Encoder) appendAvro(dst []byte, i int) []byte {
	if e.plan.avro.registry {
		if !e.frame.set {
			e.fail(&NoSchemaID{e.plan.format})
		}
		dst = append(dst, e.frame.bytes[:]...)
	}
	if !e.plan.avro.debezium {
		return e.appendAvroRow(dst, e.cells, i)
	}
	around := e.imageOf(i)
	dst = append(dst, around.before...)
	dst = e.appendAvroRow(dst, e.cells, i)
	return append(dst, around.after...)
}

func (e *Encoder) appendAvroRow(dst []byte, cells []cell, i int) []byte {
	for k := range cells {
		dst = e.appendAvroField(dst, &cells[k], i)
	}
	return dst
}

// appendAvroField writes element i of a column, of an array or of the values of a map. A nullable type is a union whose first branch
// is null; each value begins with the number of its branch.
func (e *Encoder) appendAvroField(dst []byte, c *cell, i int) []byte {
	if c.isNull(i) {
		if !c.nullable {
			e.nullInNotNull(c)
		}
		return append(dst, 0)
	}
	if c.nullable {
		dst = append(dst, 2)
	}
	return e.appendAvroValue(dst, c, i)
}

// appendAvroValue writes element i, which is not null.
func (e *Encoder) appendAvroValue(dst []byte, c *cell, i int) []byte {
	switch c.op {
	case opString:
		return e.appendAvroString(dst, c.bytes(i))
	case opInt64:
		return appendZigzag(dst, int64(binary.LittleEndian.Uint64(c.values[i*8:])))
	case opInt32:
		return appendZigzag(dst, int64(int32(binary.LittleEndian.Uint32(c.values[i*4:]))))
	case opTimestamp, opTimestampUTC:
		return appendZigzag(dst, e.avroMillis(c, i))
	case opFixed:
		width := valueWidths[c.kind]
		return append(dst, c.values[i*width:i*width+width]...)
	case opDecimalPlain:
		return appendAvroDecimal(dst, c.values[i*16:i*16+16])
	case opBinary:
		return appendAvroBytes(dst, c.bytes(i))
	case opBool:
		if c.bit(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case opInt16:
		return appendZigzag(dst, int64(int16(binary.LittleEndian.Uint16(c.values[i*2:]))))
	case opInt8:
		return appendZigzag(dst, int64(int8(c.values[i])))
	case opRow:
		return e.appendAvroRow(dst, c.children, i)
	case opArray:
		return e.appendAvroArray(dst, c, i)
	case opMap:
		return e.appendAvroMap(dst, c, i)
	}
	panic("encode: an instruction without code")
}

// appendAvroArray writes list i as one block, as GenericDatumWriter does, with a count and never with a size.
func (e *Encoder) appendAvroArray(dst []byte, c *cell, i int) []byte {
	from, to := e.listSpan(c, i)
	if from == to {
		return append(dst, 0)
	}
	dst = appendZigzag(dst, int64(to-from))
	element := &c.children[0]
	for k := from; k < to && !e.stop(dst); k++ {
		dst = e.appendAvroField(dst, element, k)
	}
	return append(dst, 0)
}

// avroMillis is the timestamp of element i in milliseconds, rounded down, whatever the schema says.
func (e *Encoder) avroMillis(c *cell, i int) int64 {
	millis, _ := e.timestamp(c, i)
	if e.plan.avro.localTimestamps && c.op == opTimestamp {
		day, inDay := splitDay(millis)
		// TimestampData.toLocalDateTime keeps the day in an int, which wraps.
		return int64(int32(day))*millisPerDay + inDay
	}
	return millis
}

func appendZigzag(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

func appendAvroBytes(dst, value []byte) []byte {
	return append(appendZigzag(dst, int64(len(value))), value...)
}

// appendAvroString writes what StringData.toString() returns.
func (e *Encoder) appendAvroString(dst, text []byte) []byte {
	if !utf8.Valid(text) {
		e.joined = appendText(e.joined[:0], text)
		text = e.joined
	}
	return appendAvroBytes(dst, text)
}

// appendAvroDecimal writes the 16-byte little-endian number in raw with as few big-endian bytes of two's complement as hold it
// (BigInteger.toByteArray).
func appendAvroDecimal(dst, raw []byte) []byte {
	lo, hi := binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
	sign := uint64(hi >> 63)
	n := 8 + bits.Len64(uint64(hi)^sign)/8 + 1
	if uint64(hi) == sign && lo>>63 == sign>>63 {
		n = bits.Len64(lo^sign)/8 + 1
	}
	dst = append(dst, byte(2*n))
	for n > 0 {
		n--
		dst = append(dst, raw[n])
	}
	return dst
}
