package encode

import (
	"fmt"
	"math"
	"runtime"

	"penstock.dev/penstock/columnar"
)

// DefaultMaxBytes bounds the encoded bytes of one batch, see Encoder.MaxBytes.
const DefaultMaxBytes = 1 << 30

// Selection says which rows of a batch to encode, and in which order.
type Selection struct {
	first, count int
	rows         []uint32
	isList       bool
}

// AllRows selects every row of b in order.
func AllRows(b *columnar.Batch) Selection { return Selection{count: b.Rows} }

// RowRange selects count rows from first on.
func RowRange(first, count int) Selection { return Selection{first: first, count: count} }

// RowList selects rows by index, in the order of the list; it is read until Encode returns.
func RowList(rows []uint32) Selection { return Selection{rows: rows, count: len(rows), isList: true} }

func (s *Selection) check(rows int) error {
	if s.isList {
		for _, r := range s.rows {
			if int64(r) >= int64(rows) {
				return fmt.Errorf("selection: row %d of a batch of %d rows", r, rows)
			}
		}
		return nil
	}
	if s.first < 0 || s.count < 0 || s.first > rows || s.count > rows-s.first {
		return fmt.Errorf("selection: %d rows from row %d of a batch of %d rows", s.count, s.first, rows)
	}
	return nil
}

// at is the i-th selected row.
func (s *Selection) at(i int) int {
	if s.isList {
		return int(s.rows[i])
	}
	return s.first + i
}

// Encoded holds the records of one batch: the value of record i is Values[Offsets[i]:Offsets[i+1]]. It belongs to its Encoder
// and is valid until the next Encode.
type Encoded struct {
	Values []byte
	// Offsets has one element more than there are records; the first is 0.
	Offsets []uint32
	// ValueNulls has one bit for each record, least significant bit first; 1: the value is null, not empty. It is empty when no
	// value is null.
	ValueNulls []byte
}

// Len is the number of records.
func (x *Encoded) Len() int { return len(x.Offsets) - 1 }

// Value returns the value of record i, nil when it is null; it aliases Values.
func (x *Encoded) Value(i int) []byte {
	if len(x.ValueNulls) != 0 && x.ValueNulls[i>>3]>>(i&7)&1 != 0 {
		return nil
	}
	return x.Values[x.Offsets[i]:x.Offsets[i+1]]
}

// Encoder writes batches of one Plan. It reuses its memory, so that the steady state allocates nothing; that memory stays as
// large as the largest batch needed. It is not safe for concurrent use.
type Encoder struct {
	// MaxBytes bounds the encoded bytes of one batch, against batches whose text is far larger than their columns (a null
	// takes a bit in a column, and in JSON its name and four bytes). A batch above it is a BadBatch. At most 4 GiB - 1; set
	// before Encode.
	MaxBytes int

	plan  *Plan
	cells []cell
	out   Encoded
	// row is the row being written; err is the first error, which ends the batch at the end of that row.
	row int
	err error
	// kinds are the row kinds of the batch; nil: every row is an INSERT.
	kinds []byte
	// upsert makes the value of a row that is no longer there null and writes every other one as an INSERT.
	upsert bool
	// nullValue says that the value of the row being written is null.
	nullValue bool

	scratch mapScratch
	// order is for the formats whose maps go through a HashMap.
	order hashOrder
	// discarded counts the bytes of the batch that were written only for their errors.
	discarded int
	// joined is the text of a csv field that turns out to need quotes.
	joined []byte
	// frame stands before each record of avro's registry formats.
	frame avroFrame
}

// NewEncoder returns an encoder for a plan.
func NewEncoder(plan *Plan) *Encoder {
	// Values is not nil from the start on, so that an empty value differs from a null one.
	return &Encoder{MaxBytes: DefaultMaxBytes, plan: plan, cells: newCells(plan.columns), out: Encoded{Values: []byte{}}}
}

// Format is Flink's name of the format that the encoder writes.
func (e *Encoder) Format() string { return e.plan.format }

// Encode writes the selected rows of b. Only the changelog formats look at the row kinds, for which the others have no place.
// The result is valid until the next call. Errors are *RowError, *BadBatch, *NoSchemaID, or a selection outside of the batch; after an error
// nothing of the batch is returned.
func (e *Encoder) Encode(b *columnar.Batch, sel Selection) (out *Encoded, err error) {
	if err := sel.check(b.Rows); err != nil {
		return nil, err
	}
	// The views are dropped in any case: nobody may keep them after the batch is settled.
	defer func() {
		release(e.cells)
		e.kinds = nil
	}()
	defer trap(&e.row, &err)
	e.err, e.row, e.nullValue, e.discarded = nil, 0, false, 0
	e.scratch.reset()
	e.order.reset()
	if err := bindAll(e.cells, b.Columns, b.Rows, "batch"); err != nil {
		return nil, err
	}
	if b.Kinds != nil && len(b.Kinds) < b.Rows {
		return nil, badBatchf("%d row kinds for %d rows", len(b.Kinds), b.Rows)
	}
	e.kinds = b.Kinds
	if err := e.rows(&sel); err != nil {
		return nil, err
	}
	return &e.out, nil
}

// trap, deferred, turns an index that is out of range into an error: foreign bytes may change after they were checked. One recover
// for each batch is enough.
func trap(row *int, err *error) {
	if p := recover(); p != nil {
		fault, isRuntime := p.(runtime.Error)
		if !isRuntime {
			panic(p)
		}
		*err = badBatchf("row %d: %v", *row, fault)
	}
}

func (e *Encoder) rows(sel *Selection) error {
	limit := min(e.MaxBytes, math.MaxUint32)
	dst, offsets := e.out.Values[:0], append(e.out.Offsets[:0], 0)
	e.out.ValueNulls = e.out.ValueNulls[:0]
	// The buffers are kept also when a row fails.
	defer func() { e.out.Values, e.out.Offsets = dst, offsets }()
	for i := range sel.count {
		e.row = sel.at(i)
		dst = e.appendRecord(dst, e.row)
		if e.err != nil {
			return e.err
		}
		if len(dst) > limit {
			return e.tooLarge()
		}
		offsets = append(offsets, uint32(len(dst)))
		if e.nullValue {
			e.nullValue = false
			e.markNull(i, sel.count)
		}
	}
	return nil
}

// appendRecord writes the value of one record.
func (e *Encoder) appendRecord(dst []byte, row int) []byte {
	if e.upsert && e.removed(row) {
		e.nullValue = true
		return dst
	}
	switch e.plan.layout {
	case layoutChangelog:
		return e.appendChange(dst, row)
	case layoutCSV:
		return e.appendCSVRow(dst, row)
	case layoutRaw:
		return e.appendRaw(dst, row)
	case layoutProtobuf:
		return e.appendMessage(dst, e.plan.message, e.cells, row)
	case layoutAvro:
		return e.appendAvro(dst, row)
	}
	return e.appendRow(dst, e.cells, row)
}

// markNull makes the value of record i of count records null.
func (e *Encoder) markNull(i, count int) {
	if len(e.out.ValueNulls) == 0 {
		e.out.ValueNulls = extend(e.out.ValueNulls, (count+7)/8)
		clear(e.out.ValueNulls)
	}
	e.out.ValueNulls[i>>3] |= 1 << (i & 7)
}

// fail keeps the first error.
func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *Encoder) failRow(c *cell, reason string) {
	e.fail(&RowError{Row: e.row, Column: c.path, Reason: reason})
}

func (e *Encoder) tooLarge() error {
	return badBatchf("row %d: the encoded batch is larger than %d bytes", e.row, e.MaxBytes)
}

// stop tells loops over elements to end: an error has occurred, or the output has grown beyond its bound.
func (e *Encoder) stop(dst []byte) bool {
	if len(dst) > e.MaxBytes {
		e.fail(e.tooLarge())
	}
	return e.err != nil
}
