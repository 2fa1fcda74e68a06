package encode

import (
	"encoding/binary"

	"penstock.dev/penstock/columnar"
)

// cell joins the instruction for a column with the buffers of that column in the current batch.
type cell struct {
	op op
	// nullable is that of the node, close at hand.
	nullable bool
	lead     lead
	validity []byte // nil: all valid
	values   []byte
	offsets  []byte
	children []cell
	length   int
	*node
	day dayText
	// second is set for timestamps.
	second *secondText
}

func newCells(nodes []node) []cell {
	cells := make([]cell, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		cells[i] = cell{op: n.op, nullable: n.nullable, lead: newLead(n.prefix), node: n, day: dayText{day: noDay}}
		if n.op == opTimestamp || n.op == opTimestampUTC {
			cells[i].second = &secondText{}
			cells[i].children = []cell{
				{op: opInt64, node: &node{op: opInt64, kind: columnar.BigInt, path: n.path}},
				{op: opInt32, node: &node{op: opInt32, kind: columnar.Integer, path: n.path}},
			}
			continue
		}
		cells[i].children = newCells(n.children)
	}
	return cells
}

// release forgets the views of a batch.
func release(cells []cell) {
	for i := range cells {
		c := &cells[i]
		c.validity, c.values, c.offsets, c.length = nil, nil, nil, 0
		release(c.children)
	}
}

// isNull reports whether element i is null.
func (c *cell) isNull(i int) bool {
	return c.validity != nil && c.validity[i>>3]>>(i&7)&1 == 0
}

// span returns the bounds of element i in the values or the child.
func (c *cell) span(i int) (from, to int) {
	o := c.offsets[i*4 : i*4+8]
	return int(int32(binary.LittleEndian.Uint32(o))), int(int32(binary.LittleEndian.Uint32(o[4:])))
}

// bytes returns element i of a string or binary column.
func (c *cell) bytes(i int) []byte {
	from, to := c.span(i)
	return c.values[from:to]
}

// listSpan returns the bounds of list i, and whether they lie within the children: a ROW without fields has no buffer whose length
// could tell.
func (c *cell) listSpan(i int) (from, to int, ok bool) {
	from, to = c.span(i)
	return from, to, from >= 0 && from <= to && to <= c.listLength()
}

// listLength is the number of elements of all lists.
func (c *cell) listLength() int {
	length := c.children[0].length
	if len(c.children) > 1 {
		length = min(length, c.children[1].length)
	}
	return length
}

// bindAll sets the views of a row's columns, each of which must have rows elements.
func bindAll(cells []cell, vectors []columnar.Vector, rows int, path string) error {
	if len(vectors) != len(cells) {
		return badBatchf("%s has %d columns, the schema %d", path, len(vectors), len(cells))
	}
	for i := range cells {
		if err := cells[i].bind(&vectors[i]); err != nil {
			return err
		}
		if vectors[i].Len != rows {
			return badBatchf("column %q has %d elements, its parent %d", cells[i].path, vectors[i].Len, rows)
		}
	}
	return nil
}

// valueWidths holds the bytes of one value of each kind with a fixed width.
var valueWidths = [...]int{
	columnar.TinyInt: 1, columnar.SmallInt: 2, columnar.Integer: 4, columnar.BigInt: 8, columnar.Float: 4, columnar.Double: 8,
	columnar.Decimal: 16, columnar.Date: 4, columnar.Time: 4, columnar.IntervalYearMonth: 4, columnar.IntervalDayTime: 8,
	columnar.Row: 0,
}

// bind checks the shape of v once, so that the loops over rows meet only what a peer changes meanwhile, and sets the views
// with capacities that end where the buffers end.
func (c *cell) bind(v *columnar.Vector) error {
	if v.Type == nil || v.Type.Kind != c.kind {
		return badBatchf("column %q is not of the kind that the schema names", c.path)
	}
	if v.Len < 0 {
		return badBatchf("column %q has %d elements", c.path, v.Len)
	}
	c.length = v.Len
	if c.op == opNull {
		// The kind NULL has no buffers at all.
		return nil
	}
	if err := c.bindValidity(v); err != nil {
		return err
	}
	c.values = v.Values[:len(v.Values):len(v.Values)]
	c.offsets = v.Offsets[:len(v.Offsets):len(v.Offsets)]
	need := v.Len * valueWidths[c.kind]
	if c.op == opBool {
		need = (v.Len + 7) / 8
	}
	if len(c.values) < need {
		return badBatchf("column %q has %d bytes of values, needs %d", c.path, len(c.values), need)
	}
	if c.hasOffsets() && v.Len > 0 && len(c.offsets) < 4*(v.Len+1) {
		return badBatchf("column %q has %d bytes of offsets, needs %d", c.path, len(c.offsets), 4*(v.Len+1))
	}
	return c.bindChildren(v)
}

func (c *cell) hasOffsets() bool {
	switch c.op {
	case opString, opBinary, opArray, opMap, opMergeMap:
		return true
	}
	return false
}

func (c *cell) bindValidity(v *columnar.Vector) error {
	c.validity = nil
	if v.Validity == nil {
		if v.NullCount != 0 {
			return badBatchf("column %q has %d nulls and no validity bitmap", c.path, v.NullCount)
		}
		return nil
	}
	if len(v.Validity) < (v.Len+7)/8 {
		return badBatchf("column %q has %d bytes of validity for %d elements", c.path, len(v.Validity), v.Len)
	}
	c.validity = v.Validity[:len(v.Validity):len(v.Validity)]
	return nil
}

func (c *cell) bindChildren(v *columnar.Vector) error {
	switch c.op {
	case opRow, opTimestamp, opTimestampUTC:
		return bindAll(c.children, v.Children, v.Len, c.path)
	case opArray, opMap, opMergeMap:
		if len(v.Children) != len(c.children) {
			return badBatchf("column %q has %d children, the schema %d", c.path, len(v.Children), len(c.children))
		}
		for i := range c.children {
			if err := c.children[i].bind(&v.Children[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
