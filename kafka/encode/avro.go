package encode

import (
	"encoding/binary"
	"math/bits"
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
	var branch mark
	if c.nullable {
		branch = mark{avroPresent, 1}
	}
	switch c.op {
	case opString:
		return appendSizedText(dst, branch, c.bytes(i), avroSize)
	case opInt64:
		return appendVarint(dst, branch, zigzag(int64(binary.LittleEndian.Uint64(c.values[i*8:]))))
	case opInt32:
		return appendVarint(dst, branch, zigzag(int64(int32(binary.LittleEndian.Uint32(c.values[i*4:])))))
	case opTimestamp, opTimestampUTC:
		return appendVarint(dst, branch, zigzag(e.avroMillis(c, i)))
	}
	return e.appendAvroValue(branch.append(dst), c, i)
}

// appendAvroValue writes element i, which is not null, of the types that are not as common as those of appendAvroField.
func (e *Encoder) appendAvroValue(dst []byte, c *cell, i int) []byte {
	switch c.op {
	case opFixed:
		width := valueWidths[c.kind]
		return append(dst, c.values[i*width:i*width+width]...)
	case opDecimalPlain:
		return appendAvroDecimal(dst, c.values[i*16:i*16+16])
	case opBinary:
		return appendSizedBytes(dst, mark{}, c.bytes(i), avroSize)
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

// avroPresent is the branch of a union with null that has the value, as avro writes numbers.
const avroPresent = 2

// avroSize is by how much the length of a text is shifted: it is a signed number.
const avroSize = 1

func appendZigzag(dst []byte, v int64) []byte { return appendVarint(dst, mark{}, zigzag(v)) }

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
