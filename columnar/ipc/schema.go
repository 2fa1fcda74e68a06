package ipc

import (
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"penstock.dev/penstock/columnar"
)

// Members of the union Type.
const (
	typeNull          = 1
	typeInt           = 2
	typeFloatingPoint = 3
	typeBinary        = 4
	typeUtf8          = 5
	typeBool          = 6
	typeDecimal       = 7
	typeDate          = 8
	typeTime          = 9
	typeList          = 12
	typeStruct        = 13
)

// Fields of the tables Schema and Field.
const (
	schemaEntries = 1
	schemaFields  = 4

	fieldName     = 0
	fieldNullable = 1
	fieldTypeType = 2
	fieldType     = 3
	fieldChildren = 5
	fieldFields   = 7
)

// field is one column, or a part of one, in Arrow's terms.
type field struct {
	name     string
	kind     byte // member of the union Type
	numbers  [2]int32
	children []field
}

// Schema is the encapsulated schema message of batches of row, whose kind must be Row; its length is a multiple of Align. The error
// wraps columnar.ErrType.
func Schema(row *columnar.Type) ([]byte, error) {
	if err := row.Check(); err != nil {
		return nil, err
	}
	if row.Kind != columnar.Row {
		return nil, fmt.Errorf("%w: the type of a batch is a ROW, not %v", columnar.ErrType, row.Kind)
	}
	b := flatbuffers.NewBuilder(1024)
	fields := vector(b, fieldsOf(row))
	b.StartObject(schemaFields)
	b.PrependUOffsetTSlot(schemaEntries, fields, 0)
	return message(b, headerSchema, b.EndObject(), 0), nil
}

func fieldsOf(row *columnar.Type) []field {
	fields := make([]field, len(row.Children))
	for i, child := range row.Children {
		fields[i] = fieldOf(row.FieldNames[i], child)
	}
	return fields
}

// fieldOf follows the table of types in shm/LAYOUT.md.
func fieldOf(name string, t *columnar.Type) field {
	integer := func(bits int32) field { return field{name: name, kind: typeInt, numbers: [2]int32{bits, 1}} }
	switch t.Kind {
	case columnar.Boolean:
		return field{name: name, kind: typeBool}
	case columnar.TinyInt:
		return integer(8)
	case columnar.SmallInt:
		return integer(16)
	case columnar.Integer, columnar.IntervalYearMonth:
		return integer(32)
	case columnar.BigInt, columnar.IntervalDayTime:
		return integer(64)
	case columnar.Float:
		return field{name: name, kind: typeFloatingPoint, numbers: [2]int32{1}}
	case columnar.Double:
		return field{name: name, kind: typeFloatingPoint, numbers: [2]int32{2}}
	case columnar.Decimal:
		return field{name: name, kind: typeDecimal, numbers: [2]int32{int32(t.Precision), int32(t.Scale)}}
	case columnar.Char, columnar.VarChar:
		return field{name: name, kind: typeUtf8}
	case columnar.Binary, columnar.VarBinary:
		return field{name: name, kind: typeBinary}
	case columnar.Date:
		return field{name: name, kind: typeDate}
	case columnar.Time:
		return field{name: name, kind: typeTime}
	case columnar.Timestamp, columnar.TimestampLTZ:
		return field{name: name, kind: typeStruct, children: []field{
			{name: "millis", kind: typeInt, numbers: [2]int32{64, 1}}, {name: "nanos", kind: typeInt, numbers: [2]int32{32, 1}}}}
	case columnar.Array:
		return field{name: name, kind: typeList, children: []field{fieldOf("element", t.Children[0])}}
	case columnar.Map:
		return entries(name, fieldOf("key", t.Children[0]), fieldOf("value", t.Children[1]))
	case columnar.Multiset:
		return entries(name, fieldOf("key", t.Children[0]), field{name: "value", kind: typeInt, numbers: [2]int32{32, 1}})
	case columnar.Row:
		return field{name: name, kind: typeStruct, children: fieldsOf(t)}
	}
	return field{name: name, kind: typeNull}
}

func entries(name string, key, value field) field {
	return field{name: name, kind: typeList, children: []field{{name: "entries", kind: typeStruct, children: []field{key, value}}}}
}

// vector writes fields and the vector of them; children come before their parents, as flatbuffers wants it.
func vector(b *flatbuffers.Builder, fields []field) flatbuffers.UOffsetT {
	offsets := make([]flatbuffers.UOffsetT, len(fields))
	for i := range fields {
		offsets[i] = fields[i].write(b)
	}
	return b.CreateVectorOfTables(offsets)
}

func (f *field) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	children := vector(b, f.children)
	name := b.CreateString(f.name)
	typ := f.writeType(b)
	b.StartObject(fieldFields)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependUOffsetTSlot(fieldType, typ, 0)
	b.PrependUOffsetTSlot(fieldChildren, children, 0)
	// A null can stand in a NOT NULL field of a ROW; so every field says that it may be null.
	b.PrependBoolSlot(fieldNullable, true, false)
	b.PrependByteSlot(fieldTypeType, f.kind, 0)
	return b.EndObject()
}

func (f *field) writeType(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	switch f.kind {
	case typeInt:
		b.StartObject(2) // bitWidth, is_signed
		b.PrependInt32Slot(0, f.numbers[0], 0)
		b.PrependBoolSlot(1, f.numbers[1] == 1, false)
	case typeFloatingPoint:
		b.StartObject(1) // precision: 1 single, 2 double
		b.PrependInt16Slot(0, int16(f.numbers[0]), 0)
	case typeDecimal:
		b.StartObject(3) // precision, scale, bitWidth: 128 by default
		b.PrependInt32Slot(0, f.numbers[0], 0)
		b.PrependInt32Slot(1, f.numbers[1], 0)
	case typeDate:
		b.StartObject(1) // unit: 0 is days, the default is milliseconds
		b.PrependInt16Slot(0, 0, 1)
	case typeTime:
		b.StartObject(2) // unit and bitWidth: milliseconds in 32 bits by default
	default:
		b.StartObject(0)
	}
	return b.EndObject()
}
