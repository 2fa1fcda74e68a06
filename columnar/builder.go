package columnar

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
)

// Builder writes batches from Go values. It is for tests and for rows that do not come from a JVM; it favours being
// plainly right over being fast. It is not safe for concurrent use.
//
// A cell is nil, or by kind:
//
//	BOOLEAN                                  bool
//	TINYINT to BIGINT, DATE, TIME, INTERVAL  int64 or int, in the unit of shm/LAYOUT.md
//	FLOAT, DOUBLE                            float32, float64
//	DECIMAL                                  *big.Int, the unscaled value
//	CHAR, VARCHAR, BINARY, VARBINARY         string or []byte
//	TIMESTAMP, TIMESTAMP_LTZ                 TimestampValue
//	ARRAY, ROW                               []any
//	MAP, MULTISET                            []Entry
//
// A value of another Go type, or one that does not fit its column, is a defect of the caller and panics. Nil is accepted
// in NOT NULL columns, so that tests can build what a broken client would send.
type Builder struct {
	row     *Type
	kinds   []byte
	columns []*column
}

// TimestampValue is a TIMESTAMP or TIMESTAMP_LTZ: milliseconds since the epoch and nanoseconds of the millisecond
// (0 to 999,999), as in Flink's TimestampData.
type TimestampValue struct {
	Millis int64
	Nanos  int32
}

// Entry is one entry of a MAP, or an element and its count of a MULTISET.
type Entry struct{ Key, Value any }

// NewBuilder prepares a builder for batches of row. It panics when row fails Type.Check or is not a ROW.
func NewBuilder(row *Type) *Builder {
	if err := row.Check(); err != nil {
		panic(err)
	}
	if row.Kind != Row {
		panic(fmt.Errorf("%w: the type of a batch is a ROW, not %v", ErrType, row.Kind))
	}
	b := &Builder{row: row}
	b.reset()
	return b
}

func (b *Builder) reset() {
	b.kinds, b.columns = nil, nil
	for _, t := range b.row.Children {
		b.columns = append(b.columns, newColumn(t))
	}
}

// Rows is the number of rows appended since the last Finish.
func (b *Builder) Rows() int { return len(b.kinds) }

// Append adds one row of the given row kind (0 INSERT, 1 UPDATE_BEFORE, 2 UPDATE_AFTER, 3 DELETE; not checked).
func (b *Builder) Append(kind byte, values ...any) {
	if len(values) != len(b.columns) {
		panic(fmt.Errorf("columnar: %d values for a row of %d fields", len(values), len(b.columns)))
	}
	for i, v := range values {
		b.columns[i].append(v)
	}
	b.kinds = append(b.kinds, kind)
}

// Finish returns the bytes of the batch and starts the next one. When every row is an INSERT the row kinds are left out.
func (b *Builder) Finish(schemaTag uint32) []byte {
	w := &batchWriter{}
	kinds, flags := b.kinds, uint16(flagAllInsert)
	for _, k := range b.kinds {
		if k != 0 {
			flags = 0
		}
	}
	if flags != 0 {
		kinds = nil
	}
	w.buffers = append(w.buffers, kinds)
	for _, c := range b.columns {
		c.write(w)
	}
	body := w.body(len(b.kinds), flags, schemaTag)
	b.reset()
	return body
}

// batchWriter collects nodes and buffers in the order of the type tree.
type batchWriter struct {
	nodes   [][2]int64 // length, null count
	buffers [][]byte
}

func alignUp(n int) int { return (n + batchAlign - 1) &^ (batchAlign - 1) }

func (w *batchWriter) body(rows int, flags uint16, schemaTag uint32) []byte {
	tables := batchHeaderBytes + len(w.nodes)*nodeBytes + len(w.buffers)*bufferBytes
	size := alignUp(tables)
	for _, b := range w.buffers {
		size += alignUp(len(b))
	}
	body := make([]byte, size)
	le := binary.LittleEndian
	le.PutUint32(body[offMagic:], batchMagic)
	le.PutUint16(body[offVersion:], batchVersion)
	le.PutUint16(body[offFlags:], flags)
	le.PutUint32(body[offRowCount:], uint32(rows))
	le.PutUint32(body[offNodeCount:], uint32(len(w.nodes)))
	le.PutUint32(body[offBufferCount:], uint32(len(w.buffers)))
	le.PutUint32(body[offSchemaTag:], schemaTag)
	le.PutUint64(body[offBodyBytes:], uint64(size))
	at := batchHeaderBytes
	for _, n := range w.nodes {
		le.PutUint64(body[at:], uint64(n[0]))
		le.PutUint64(body[at+8:], uint64(n[1]))
		at += nodeBytes
	}
	data := alignUp(tables)
	for _, b := range w.buffers {
		le.PutUint64(body[at:], uint64(data))
		le.PutUint64(body[at+8:], uint64(len(b)))
		at += bufferBytes
		copy(body[data:], b)
		data += alignUp(len(b))
	}
	return body
}

// column accumulates one node and its children.
type column struct {
	t        *Type
	length   int
	nulls    int
	validity []byte
	values   []byte // fixed-width values, bits or the bytes of strings
	offsets  []byte // with the first 0 from the start
	children []*column
}

func newColumn(t *Type) *column {
	c := &column{t: t}
	switch t.Kind {
	case Timestamp, TimestampLTZ:
		c.children = []*column{newColumn(millisType), newColumn(nanosType)}
	case Map:
		c.children = []*column{newColumn(entryType(t.Children[0], t.Children[1]))}
	case Multiset:
		c.children = []*column{newColumn(entryType(t.Children[0], countType))}
	case Array, Row:
		for _, child := range t.Children {
			c.children = append(c.children, newColumn(child))
		}
	}
	if c.hasOffsets() {
		c.offsets = make([]byte, 4)
	}
	return c
}

func entryType(key, value *Type) *Type {
	return &Type{Kind: Row, Children: []*Type{key, value}, FieldNames: []string{"key", "value"}}
}

func (c *column) hasOffsets() bool {
	switch c.t.Kind {
	case Char, VarChar, Binary, VarBinary, Array, Map, Multiset:
		return true
	}
	return false
}

func setBit(b []byte, i int, on bool) []byte {
	for len(b) <= i/8 {
		b = append(b, 0)
	}
	if on {
		b[i/8] |= 1 << (i % 8)
	}
	return b
}

func (c *column) append(v any) {
	c.validity = setBit(c.validity, c.length, v != nil)
	if v == nil {
		c.nulls++
	}
	c.value(v)
	if c.hasOffsets() {
		end := len(c.values)
		if len(c.children) != 0 {
			end = c.children[0].length
		}
		c.offsets = binary.LittleEndian.AppendUint32(c.offsets, uint32(end))
	}
	c.length++
}

// value appends what stands behind the validity bit; a null occupies a zero, or nothing where lengths vary.
func (c *column) value(v any) {
	if v == nil {
		switch c.t.Kind {
		case Boolean:
			c.values = setBit(c.values, c.length, false)
		case Timestamp, TimestampLTZ:
			c.children[0].append(int64(0))
			c.children[1].append(int64(0))
		case Row:
			for _, child := range c.children {
				child.append(nil)
			}
		default:
			c.values = append(c.values, make([]byte, fixedWidth(c.t.Kind))...)
		}
		return
	}
	switch v := v.(type) {
	case bool:
		c.want(v, Boolean)
		c.values = setBit(c.values, c.length, v)
	case int64:
		c.integer(v)
	case int:
		c.integer(int64(v))
	case float32:
		c.want(v, Float)
		c.values = binary.LittleEndian.AppendUint32(c.values, math.Float32bits(v))
	case float64:
		c.want(v, Double)
		c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
	case *big.Int:
		c.want(v, Decimal)
		c.decimal(v)
	case string:
		c.want(v, Char, VarChar, Binary, VarBinary)
		c.values = append(c.values, v...)
	case []byte:
		c.want(v, Char, VarChar, Binary, VarBinary)
		c.values = append(c.values, v...)
	case TimestampValue:
		c.want(v, Timestamp, TimestampLTZ)
		c.children[0].append(v.Millis)
		c.children[1].append(int64(v.Nanos))
	case []any:
		c.want(v, Array, Row)
		c.nested(v)
	case []Entry:
		c.want(v, Map, Multiset)
		for _, e := range v {
			c.children[0].append([]any{e.Key, e.Value})
		}
	default:
		c.want(v)
	}
}

// want panics unless the column's kind is among kinds.
func (c *column) want(v any, kinds ...Kind) {
	for _, k := range kinds {
		if k == c.t.Kind {
			return
		}
	}
	panic(fmt.Errorf("columnar: %T in a column of %v", v, c.t.Kind))
}

func (c *column) integer(v int64) {
	c.want(v, TinyInt, SmallInt, Integer, BigInt, Date, Time, IntervalYearMonth, IntervalDayTime)
	width := fixedWidth(c.t.Kind)
	if shift := 64 - 8*width; v<<shift>>shift != v {
		panic(fmt.Errorf("columnar: %d does not fit into %v", v, c.t.Kind))
	}
	c.values = append(c.values, binary.LittleEndian.AppendUint64(nil, uint64(v))[:width]...)
}

func (c *column) decimal(v *big.Int) {
	if v.BitLen() > 127 {
		panic(fmt.Errorf("columnar: %v does not fit into 128 bits", v))
	}
	// Two's complement: a negative value counts down from 2^128.
	u := new(big.Int).Set(v)
	if u.Sign() < 0 {
		u.Add(u, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	bigEndian := u.FillBytes(make([]byte, 16))
	for i := range bigEndian {
		c.values = append(c.values, bigEndian[15-i])
	}
}

func (c *column) nested(v []any) {
	if c.t.Kind == Array {
		for _, e := range v {
			c.children[0].append(e)
		}
		return
	}
	if len(v) != len(c.children) {
		panic(fmt.Errorf("columnar: %d values for a ROW of %d fields", len(v), len(c.children)))
	}
	for i, e := range v {
		c.children[i].append(e)
	}
}

func (c *column) write(w *batchWriter) {
	w.nodes = append(w.nodes, [2]int64{int64(c.length), int64(c.nulls)})
	if c.t.Kind == Null {
		return
	}
	validity := c.validity
	if c.nulls == 0 {
		validity = nil
	}
	w.buffers = append(w.buffers, validity)
	if c.hasOffsets() {
		w.buffers = append(w.buffers, c.offsets)
	}
	if len(c.children) == 0 && c.t.Kind != Row {
		w.buffers = append(w.buffers, c.values)
	}
	for _, child := range c.children {
		child.write(w)
	}
}
