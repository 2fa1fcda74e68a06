package columnar

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowType is the Arrow column of shm/LAYOUT.md for t.
func arrowType(t *Type) arrow.DataType {
	switch t.Kind {
	case Boolean:
		return arrow.FixedWidthTypes.Boolean
	case TinyInt:
		return arrow.PrimitiveTypes.Int8
	case SmallInt:
		return arrow.PrimitiveTypes.Int16
	case Integer, IntervalYearMonth:
		return arrow.PrimitiveTypes.Int32
	case BigInt, IntervalDayTime:
		return arrow.PrimitiveTypes.Int64
	case Float:
		return arrow.PrimitiveTypes.Float32
	case Double:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Char, VarChar:
		return arrow.BinaryTypes.String
	case Binary, VarBinary:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Time:
		return arrow.FixedWidthTypes.Time32ms
	case Timestamp, TimestampLTZ:
		return arrow.StructOf(arrow.Field{Name: "millis", Type: arrow.PrimitiveTypes.Int64},
			arrow.Field{Name: "nanos", Type: arrow.PrimitiveTypes.Int32})
	case Array:
		return arrow.ListOf(arrowType(t.Children[0]))
	case Map:
		return arrow.ListOf(entriesOf(arrowType(t.Children[0]), arrowType(t.Children[1])))
	case Multiset:
		return arrow.ListOf(entriesOf(arrowType(t.Children[0]), arrow.PrimitiveTypes.Int32))
	case Row:
		fields := make([]arrow.Field, len(t.Children))
		for i, child := range t.Children {
			fields[i] = arrow.Field{Name: t.FieldNames[i], Type: arrowType(child), Nullable: true}
		}
		return arrow.StructOf(fields...)
	}
	return arrow.Null
}

// entriesOf is the struct below a map. everyRows has a null key, which Flink allows and arrow-go's Map type does not, so
// maps are read as the lists of structs that they are; TestArrowReadsMaps uses the Map type.
func entriesOf(key, value arrow.DataType) arrow.DataType {
	return arrow.StructOf(arrow.Field{Name: "key", Type: key, Nullable: true}, arrow.Field{Name: "value", Type: value, Nullable: true})
}

// arrowReader hands the entries of the two tables to arrow-go as an IPC reader does with a record batch: by Arrow's type
// alone, without the parser under test.
type arrowReader struct {
	body   []byte
	node   int
	buffer int
}

func (r *arrowReader) nextBuffer() *memory.Buffer {
	nodes := int(binary.LittleEndian.Uint32(r.body[offNodeCount:]))
	at := batchHeaderBytes + nodes*nodeBytes + r.buffer*bufferBytes
	r.buffer++
	offset, length := binary.LittleEndian.Uint64(r.body[at:]), binary.LittleEndian.Uint64(r.body[at+8:])
	if length == 0 {
		return nil
	}
	return memory.NewBufferBytes(r.body[offset : offset+length])
}

func (r *arrowReader) data(t arrow.DataType) arrow.ArrayData {
	at := batchHeaderBytes + r.node*nodeBytes
	r.node++
	length, nulls := int(binary.LittleEndian.Uint64(r.body[at:])), int(binary.LittleEndian.Uint64(r.body[at+8:]))
	var buffers []*memory.Buffer
	var children []arrow.ArrayData
	if t.ID() == arrow.NULL {
		buffers = []*memory.Buffer{nil}
	} else {
		for range len(t.Layout().Buffers) {
			buffers = append(buffers, r.nextBuffer())
		}
	}
	if nested, ok := t.(arrow.NestedType); ok {
		if m, ok := t.(*arrow.MapType); ok {
			children = append(children, r.data(m.Elem()))
		} else {
			for _, f := range nested.Fields() {
				children = append(children, r.data(f.Type))
			}
		}
	}
	return array.NewData(t, length, buffers, children, nulls, 0)
}

// arrowCell is element i of a as the builder takes it.
func arrowCell(t *Type, a arrow.Array, i int) any {
	if t.Kind == Null || a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.Decimal128:
		return a.Value(i).BigInt()
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time32:
		return int64(a.Value(i))
	case *array.Map:
		return arrowEntries(t, a.List, i)
	case *array.List:
		if t.Kind != Array {
			return arrowEntries(t, a, i)
		}
		from, to := a.ValueOffsets(i)
		out := []any{}
		for j := int(from); j < int(to); j++ {
			out = append(out, arrowCell(t.Children[0], a.ListValues(), j))
		}
		return out
	case *array.Struct:
		if t.Kind != Row {
			return TimestampValue{a.Field(0).(*array.Int64).Value(i), a.Field(1).(*array.Int32).Value(i)}
		}
		out := []any{}
		for j, child := range t.Children {
			out = append(out, arrowCell(child, a.Field(j), i))
		}
		return out
	}
	panic(fmt.Sprintf("no case for %T", a))
}

func arrowEntries(t *Type, a *array.List, i int) []Entry {
	entries := a.ListValues().(*array.Struct)
	valueType := countType
	if t.Kind == Map {
		valueType = t.Children[1]
	}
	from, to := a.ValueOffsets(i)
	out := []Entry{}
	for j := int(from); j < int(to); j++ {
		out = append(out, Entry{arrowCell(t.Children[0], entries.Field(0), j), arrowCell(valueType, entries.Field(1), j)})
	}
	return out
}

// Our layout is Arrow: arrow-go reads the same values from the same buffers.
func TestArrowReadsTheSameValues(t *testing.T) {
	row, rows := everyType(), everyRows()
	r := &arrowReader{body: everyBatch(), buffer: 1} // buffer 0 has the row kinds
	for j, field := range row.Children {
		a := array.MakeFromData(r.data(arrowType(field)))
		if a.Len() != len(rows) {
			t.Fatalf("%v has %d elements", field.Kind, a.Len())
		}
		if v, ok := a.(interface{ ValidateFull() error }); ok {
			if err := v.ValidateFull(); err != nil {
				t.Errorf("%v: %v", field.Kind, err)
			}
		}
		for i := range rows {
			if got := arrowCell(field, a, i); !sameCell(got, rows[i][j]) {
				t.Errorf("row %d, %v: arrow-go reads %#v, want %#v", i, field.Kind, got, rows[i][j])
			}
		}
	}
	nodes, buffers := binary.LittleEndian.Uint32(r.body[offNodeCount:]), binary.LittleEndian.Uint32(r.body[offBufferCount:])
	if r.node != int(nodes) || r.buffer != int(buffers) {
		t.Errorf("arrow-go took %d nodes and %d buffers of %d and %d", r.node, r.buffer, nodes, buffers)
	}
}

func TestArrowReadsMaps(t *testing.T) {
	m := of(Map, of(VarChar), of(BigInt))
	rows := []any{[]Entry{{"a", int64(1)}, {"b", nil}}, nil, []Entry{}}
	r := &arrowReader{body: newDraft(m, rows...).body, buffer: 1}
	a := array.MakeFromData(r.data(arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)))
	for i, want := range rows {
		if got := arrowCell(m, a, i); !sameCell(got, want) {
			t.Errorf("row %d: arrow-go reads %#v, want %#v", i, got, want)
		}
	}
}
