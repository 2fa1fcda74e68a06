package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is what every error of Parse about the bytes of a batch wraps; the text names the column and the number
// that is wrong. It maps to BAD_REQUEST.
var ErrMalformed = errors.New("malformed batch")

// Parse checks the bytes of one batch (shm/LAYOUT.md, section Batches) against a row type and the tag that the slot
// named, and returns a view of them. The view aliases body, except row kinds and offsets, which are private copies. Errors
// wrap ErrMalformed, or ErrType when row itself cannot be laid out.
//
// Parse allocates; whoever parses many batches of one type keeps a Parser.
func Parse(body []byte, row *Type, schemaTag uint32) (Batch, error) {
	b, err := NewParser(row).Parse(body, schemaTag)
	if err != nil {
		return Batch{}, err
	}
	return *b, nil
}

// Parser parses batches of one row type and reuses its memory: the steady state allocates nothing. It is not safe for
// concurrent use.
//
// The body may be shared memory that its writer still scribbles on. Every number of the header and the tables is read
// once; offsets and row kinds are copied before they are checked. So what a successful Parse returns stays within bounds
// whatever happens to the body afterwards: Values[off[i]:off[i+1]] cannot panic, and a kind is always 0 to 3.
type Parser struct {
	row   *Type
	shape shape
	err   error // of the type; returned by every Parse
	batch Batch

	// scratch holds the private copies of the current batch; used counts the bytes given out.
	scratch []byte
	used    int
}

// NewParser prepares a parser for batches of row, whose kind must be Row. A type that cannot be laid out is reported by
// Parse; Type.Check tells earlier.
func NewParser(row *Type) *Parser {
	p := &Parser{row: row}
	if p.shape, p.err = row.shape(0); p.err != nil {
		return p
	}
	if row.Kind != Row {
		p.err = fmt.Errorf("%w: the type of a batch is a ROW, not %v", ErrType, row.Kind)
		return p
	}
	p.shape.nodes-- // the top-level row has no node; its one buffer, the validity, gives its place to the row kinds
	p.batch.Columns = newVectors(row.Children)
	return p
}

// The parts of a timestamp and the count of a multiset, which the type tree does not name.
var (
	millisType = &Type{Kind: BigInt}
	nanosType  = &Type{Kind: Integer}
	countType  = &Type{Kind: Integer}
)

func newVectors(types []*Type) []Vector {
	vectors := make([]Vector, len(types))
	for i, t := range types {
		vectors[i].Type = t
		switch t.Kind {
		case Timestamp, TimestampLTZ:
			vectors[i].Children = newVectors([]*Type{millisType, nanosType})
		case Multiset:
			vectors[i].Children = newVectors([]*Type{t.Children[0], countType})
		case Array, Map, Row:
			vectors[i].Children = newVectors(t.Children)
		}
	}
	return vectors
}

// Parse checks one batch and returns a view that is valid until the next Parse of this parser and while body is mapped.
// Errors are as for the function Parse; after an error the previous view is void too.
func (p *Parser) Parse(body []byte, schemaTag uint32) (*Batch, error) {
	if p.err != nil {
		return nil, p.err
	}
	p.used = 0
	c, rows, flags, err := p.header(body, schemaTag)
	if err != nil {
		return nil, err
	}
	p.batch.Rows = rows
	if err := p.kinds(&c, rows, flags); err != nil {
		return nil, err
	}
	for i := range p.batch.Columns {
		if err := p.column(&c, &p.batch.Columns[i], rows, exactly); err != nil {
			return nil, fmt.Errorf("field %q: %w", p.row.FieldNames[i], err)
		}
	}
	return &p.batch, nil
}

func (p *Parser) header(body []byte, schemaTag uint32) (cursor, int, uint16, error) {
	fail := func(format string, args ...any) (cursor, int, uint16, error) {
		return cursor{}, 0, 0, malformed(format, args...)
	}
	if len(body) < batchHeaderBytes {
		return fail("%d bytes, the header alone has %d", len(body), batchHeaderBytes)
	}
	var h [batchHeaderBytes]byte
	copy(h[:], body)
	le := binary.LittleEndian
	rows, flags := le.Uint32(h[offRowCount:]), le.Uint16(h[offFlags:])
	nodes, buffers := le.Uint32(h[offNodeCount:]), le.Uint32(h[offBufferCount:])
	switch {
	case le.Uint32(h[offMagic:]) != batchMagic:
		return fail("magic is %#x, want %#x", le.Uint32(h[offMagic:]), batchMagic)
	case le.Uint16(h[offVersion:]) != batchVersion:
		return fail("version is %d, want %d", le.Uint16(h[offVersion:]), batchVersion)
	case flags&^flagAllInsert != 0:
		return fail("unknown flags %#x", flags)
	case le.Uint64(h[offBodyBytes:]) != uint64(len(body)):
		return fail("header says %d bytes, the extent has %d", le.Uint64(h[offBodyBytes:]), len(body))
	case le.Uint32(h[offSchemaTag:]) != schemaTag:
		return fail("schema tag is %d, the slot says %d", le.Uint32(h[offSchemaTag:]), schemaTag)
	case int64(nodes) != int64(p.shape.nodes):
		return fail("%d nodes, the schema needs %d", nodes, p.shape.nodes)
	case int64(buffers) != int64(p.shape.buffers):
		return fail("%d buffers, the schema needs %d", buffers, p.shape.buffers)
	}
	bufferTable := batchHeaderBytes + p.shape.nodes*nodeBytes
	end := bufferTable + p.shape.buffers*bufferBytes
	if end > len(body) {
		return fail("tables end at %d, the batch has %d bytes", end, len(body))
	}
	limit := int64(len(body)) + spareElements
	if int64(rows) > limit {
		return fail("%d rows in %d bytes", rows, len(body))
	}
	return cursor{body: body, nodes: body[batchHeaderBytes:bufferTable], buffers: body[bufferTable:end],
		data: int64(end), limit: limit}, int(rows), flags, nil
}

// kinds takes buffer 0.
func (p *Parser) kinds(c *cursor, rows int, flags uint16) error {
	b, err := c.buffer("row kind")
	if err != nil {
		return err
	}
	p.batch.Kinds = nil
	if flags&flagAllInsert != 0 {
		if len(b) != 0 {
			return malformed("flag all_insert with a row kind buffer of %d bytes", len(b))
		}
		return nil
	}
	if len(b) < rows {
		return malformed("row kind buffer has %d bytes for %d rows", len(b), rows)
	}
	kinds := p.private(b[:rows])
	for i, k := range kinds {
		if k > 3 {
			return malformed("row kind of row %d is %d; kinds are 0 to 3", i, k)
		}
	}
	p.batch.Kinds = kinds
	return nil
}

// private copies b into memory that no client can reach.
func (p *Parser) private(b []byte) []byte {
	if len(b) > len(p.scratch)-p.used {
		// Copies made so far keep the old memory alive; the next batch finds the larger one.
		p.scratch, p.used = make([]byte, max(2*len(p.scratch), len(b), 1024)), 0
	}
	dst := p.scratch[p.used : p.used+len(b) : p.used+len(b)]
	p.used += len(b)
	copy(dst, b)
	return dst
}

// How the length of a node relates to what its parent asks for.
const (
	exactly = iota // fields of a row
	orMore         // elements of a list
)

// column parses one node, its buffers and its children into v.
func (p *Parser) column(c *cursor, v *Vector, want int, rule int) error {
	length, err := p.validity(c, v, int64(want), rule)
	if err != nil {
		return err
	}
	v.Len = int(length)
	v.Offsets, v.Values = nil, nil
	switch v.Type.Kind {
	case Null:
		return nil
	case Boolean:
		v.Values, err = c.atLeast("value", (length+7)/8)
		return err
	case Char, VarChar, Binary, VarBinary:
		return p.bytesColumn(c, v)
	case Timestamp, TimestampLTZ, Row:
		return p.structChildren(c, v)
	case Array:
		return p.arrayColumn(c, v)
	case Map, Multiset:
		return p.mapColumn(c, v)
	}
	v.Values, err = c.atLeast("value", length*int64(fixedWidth(v.Type.Kind)))
	return err
}

// validity takes a node and its validity bitmap and checks them against each other.
func (p *Parser) validity(c *cursor, v *Vector, want int64, rule int) (int64, error) {
	length, nulls := c.node()
	switch {
	case rule == exactly && length != want:
		return 0, malformed("%d elements, want %d", length, want)
	case rule == orMore && length < want:
		return 0, malformed("%d elements, the list needs %d", length, want)
	case length > 8*c.limit:
		// Eight booleans fit into one byte; more cannot be backed by anything.
		return 0, malformed("%d elements in %d bytes", length, len(c.body))
	case (v.Type.Kind == Null || v.Type.Kind == Row) && length > c.limit:
		return 0, malformed("%d elements in %d bytes", length, len(c.body))
	case nulls < 0 || nulls > length:
		return 0, malformed("%d nulls among %d elements", nulls, length)
	}
	v.NullCount, v.Validity = int(nulls), nil
	if v.Type.Kind == Null {
		v.NullCount = int(length) // no bitmap says so; Arrow readers disagree on what the count of a Null array is
		return length, nil
	}
	bitmap, err := c.buffer("validity")
	if err != nil {
		return 0, err
	}
	if len(bitmap) == 0 {
		if nulls != 0 {
			return 0, malformed("%d nulls without a validity bitmap", nulls)
		}
		return length, nil
	}
	need := (length + 7) / 8
	if int64(len(bitmap)) < need {
		return 0, malformed("validity buffer has %d bytes, needs %d", len(bitmap), need)
	}
	if n := length - countOnes(bitmap, length); n != nulls {
		return 0, malformed("%d nulls, the validity bitmap has %d", nulls, n)
	}
	if nulls != 0 {
		v.Validity = bitmap[:need:need]
	}
	return length, nil
}

// offsets takes the offsets of v, whose length is set, and returns the last one, which is the greatest.
func (p *Parser) offsets(c *cursor, v *Vector) (int, error) {
	if v.Len == 0 {
		_, err := c.buffer("offset")
		return 0, err
	}
	shared, err := c.atLeast("offset", 4*(int64(v.Len)+1))
	if err != nil {
		return 0, err
	}
	o := p.private(shared)
	last := int32(binary.LittleEndian.Uint32(o))
	if last < 0 {
		return 0, malformed("first offset is %d", last)
	}
	for i := 4; i+4 <= len(o); i += 4 {
		next := int32(binary.LittleEndian.Uint32(o[i:]))
		if next < last {
			return 0, malformed("offset %d falls from %d to %d", i/4, last, next)
		}
		last = next
	}
	v.Offsets = o
	return int(last), nil
}

func (p *Parser) bytesColumn(c *cursor, v *Vector) error {
	last, err := p.offsets(c, v)
	if err != nil {
		return err
	}
	v.Values, err = c.atLeast("data", int64(last))
	return err
}

func (p *Parser) structChildren(c *cursor, v *Vector) error {
	for i := range v.Children {
		if err := p.column(c, &v.Children[i], v.Len, exactly); err != nil {
			if v.Type.Kind != Row {
				return err
			}
			return fmt.Errorf("%s: %w", childName(v.Type, i), err)
		}
	}
	return nil
}

func (p *Parser) arrayColumn(c *cursor, v *Vector) error {
	last, err := p.offsets(c, v)
	if err != nil {
		return err
	}
	if err := p.column(c, &v.Children[0], last, orMore); err != nil {
		return fmt.Errorf("element: %w", err)
	}
	return nil
}

// entriesType stands for the struct between a map and its keys and values while its node is checked.
var entriesType = &Type{Kind: Row}

func (p *Parser) mapColumn(c *cursor, v *Vector) error {
	last, err := p.offsets(c, v)
	if err != nil {
		return err
	}
	entries := Vector{Type: entriesType}
	length, err := p.validity(c, &entries, int64(last), orMore)
	if err != nil {
		return fmt.Errorf("entries: %w", err)
	}
	if entries.NullCount != 0 {
		return malformed("%d entries of a map are null", entries.NullCount)
	}
	for i := range v.Children {
		if err := p.column(c, &v.Children[i], int(length), exactly); err != nil {
			return fmt.Errorf("%s: %w", childName(v.Type, i), err)
		}
	}
	return nil
}
