package encode

import (
	"encoding/binary"
	"errors"
	"fmt"

	"penstock.dev/penstock/columnar"
)

// NoTimestamp is the timestamp of a record that has none and gets the time of producing.
const NoTimestamp int64 = -1

// Records holds the records of one batch. It belongs to its RecordEncoder and is valid until the next Encode.
type Records struct {
	Value *Encoded
	// Key is nil when no record has a key. Its nulls are records without one.
	Key *Encoded
	// Timestamps are milliseconds since the epoch or NoTimestamp, one for each record; nil: no record has one.
	Timestamps []int64
	// Headers is nil when no record has any.
	Headers *Headers
	// Topics are the records of each topic. It is nil when the plan has no topic column.
	Topics []TopicRun

	rows []uint32
}

// Len is the number of records.
func (r *Records) Len() int { return r.Value.Len() }

// Row is the index in the batch of the row that became record i.
func (r *Records) Row(i int) int {
	if r.rows == nil {
		return i
	}
	return int(r.rows[i])
}

// Size is the number of bytes of all keys, values and headers.
func (r *Records) Size() int {
	size := len(r.Value.Values)
	if r.Key != nil {
		size += len(r.Key.Values)
	}
	if r.Headers != nil {
		size += len(r.Headers.Bytes)
	}
	return size
}

// Memory is how many bytes the encoder keeps for its output, used or not. It grows with the largest batch and never shrinks.
func (e *RecordEncoder) Memory() int {
	return e.Value.out.memory() + e.keyMemory() + cap(e.headers.Bytes) + 4*cap(e.headers.Offsets) + 4*cap(e.headers.Ends)
}

func (e *RecordEncoder) keyMemory() int {
	if e.Key == nil {
		return 0
	}
	return e.Key.out.memory()
}

func (e *Encoded) memory() int { return cap(e.Values) + 4*cap(e.Offsets) + cap(e.ValueNulls) }

// RecordEncoder writes batches of one RecordPlan. What is said of Encoder about memory and concurrency holds for it, too.
type RecordEncoder struct {
	// Value and Key are the encoders of the parts; Key is nil when every key is null. They are here to be configured.
	Value, Key *Encoder
	// RefuseZeroTimestamps makes a timestamp of 0 an error of its row, for a producer that takes 0 for the time of producing.
	RefuseZeroTimestamps bool

	plan *RecordPlan
	out  Records
	// parts are the batches of the parts: views of some columns of the whole batch.
	value, key, metadata columnar.Batch
	cells                []cell
	topics               topicGrouper
	headers              Headers
	// sel are the rows that the current step takes, in its order.
	sel Selection
	// row is the row whose metadata is being read.
	row int
}

// NewRecordEncoder returns an encoder for a plan.
func NewRecordEncoder(plan *RecordPlan) *RecordEncoder {
	e := &RecordEncoder{plan: plan, Value: NewEncoder(plan.shape.Value.Plan), cells: newCells(plan.metadata)}
	e.Value.upsert = plan.shape.Upsert
	if plan.shape.Key != nil {
		e.Key = NewEncoder(plan.shape.Key.Plan)
	}
	return e
}

// Encode writes all rows of b: in their order, except that with a topic column the rows of each topic stand together, in the order
// that they have. Errors are those of Encoder.Encode; of several rows that cannot be written, the first is named, and of
// several faults in one row the one that Flink's serializer would meet first.
func (e *RecordEncoder) Encode(b *columnar.Batch) (*Records, error) {
	if e.plan.whole {
		value, err := e.Value.Encode(b, AllRows(b))
		if err != nil {
			return nil, err
		}
		e.out.Value = value
		return &e.out, nil
	}
	defer e.forget()
	err := e.bind(b)
	if err == nil {
		err = e.encode()
	}
	if _, ok := errors.AsType[*RowError](err); ok {
		err = e.firstFault(err)
	}
	if err != nil {
		return nil, err
	}
	return &e.out, nil
}

// forget drops the views of the batch: nobody may keep them after it is settled.
func (e *RecordEncoder) forget() {
	release(e.cells)
	forget(&e.value)
	forget(&e.key)
	forget(&e.metadata)
}

// bind makes the views of the parts.
func (e *RecordEncoder) bind(b *columnar.Batch) error {
	if _, err := projected(&e.value, b, e.plan.shape.Value.Columns); err != nil {
		return err
	}
	if e.Key != nil {
		if _, err := projected(&e.key, b, e.plan.shape.Key.Columns); err != nil {
			return err
		}
		e.key.Kinds = nil
	}
	if _, err := projected(&e.metadata, b, e.plan.metadataColumns); err != nil {
		return err
	}
	return bindAll(e.cells, e.metadata.Columns, b.Rows, "batch")
}

// encode writes the parts in the order of production, in which an error names some row.
func (e *RecordEncoder) encode() error {
	e.sel = AllRows(&e.value)
	if e.plan.topic != NoColumn {
		if err := e.readTopics(); err != nil {
			return err
		}
		e.out.Topics = e.topics.runs
		if e.out.rows = e.topics.finish(); e.out.rows != nil {
			e.sel = RowList(e.out.rows)
		}
	}
	for _, step := range []func(*RecordEncoder) error{
		(*RecordEncoder).encodeKey, (*RecordEncoder).encodeValue, (*RecordEncoder).readTimestamps, (*RecordEncoder).readHeaders,
	} {
		if err := step(e); err != nil {
			return err
		}
	}
	return nil
}

// firstFault finds the row at which Flink, which finishes a record before it takes up the next one, would fail: each step looks only at
// rows before the first that has failed so far. The steps are in Flink's order.
func (e *RecordEncoder) firstFault(err error) error {
	before := e.value.Rows
	for _, step := range []func(*RecordEncoder) error{
		(*RecordEncoder).encodeKey, (*RecordEncoder).encodeValue, (*RecordEncoder).readTopics, (*RecordEncoder).readTimestamps,
	} {
		e.sel = RowRange(0, before)
		stepErr := step(e)
		if stepErr == nil {
			continue
		}
		row, ok := errors.AsType[*RowError](stepErr)
		if !ok {
			return stepErr
		}
		err, before = row, row.Row
	}
	return err
}

func (e *RecordEncoder) encodeKey() (err error) {
	if e.Key == nil {
		return nil
	}
	e.out.Key, err = e.Key.Encode(&e.key, e.sel)
	return ofPart(err, "key")
}

func (e *RecordEncoder) encodeValue() (err error) {
	e.out.Value, err = e.Value.Encode(&e.value, e.sel)
	return ofPart(err, "value")
}

// ofPart names the part of the record in the error of a row.
func ofPart(err error, part string) error {
	if row, ok := errors.AsType[*RowError](err); ok {
		row.Part = part
	}
	return err
}

func (e *RecordEncoder) readTopics() (err error) {
	if e.plan.topic == NoColumn {
		return nil
	}
	defer trap(&e.row, &err)
	c := &e.cells[e.plan.topic]
	e.topics.reset()
	for i := range e.sel.count {
		e.row = e.sel.at(i)
		if c.isNull(e.row) {
			return e.refuse(c, "topic", "The topic of the sink record is not valid. Expected a single topic but no topic is set.")
		}
		name := c.bytes(e.row)
		if e.topics.add(name) {
			continue
		}
		text := string(appendText(nil, name))
		if reason := e.plan.refuses(text); reason != "" {
			return e.refuse(c, "topic", reason)
		}
		e.topics.learn(text)
		e.topics.add([]byte(text))
	}
	return nil
}

func (e *RecordEncoder) readTimestamps() (err error) {
	if e.plan.timestamp == NoColumn {
		return nil
	}
	defer trap(&e.row, &err)
	c := &e.cells[e.plan.timestamp]
	millis := c.children[0].values
	out := e.out.Timestamps[:0]
	// The memory is kept also when a row fails.
	defer func() { e.out.Timestamps = out }()
	for i := range e.sel.count {
		e.row = e.sel.at(i)
		if c.isNull(e.row) {
			out = append(out, NoTimestamp)
			continue
		}
		t := int64(binary.LittleEndian.Uint64(millis[e.row*8:]))
		if t < 0 {
			return e.refuse(c, "timestamp", fmt.Sprintf(
				"Invalid timestamp: %d. Timestamp should always be non-negative or null.", t))
		}
		if t == 0 && e.RefuseZeroTimestamps {
			return e.refuse(c, "timestamp", "The timestamp 0 (1970-01-01 00:00:00 UTC) cannot be sent natively, because the client "+
				"library takes it for the time of producing. Set 'penstock.enabled' = 'false' for this table, or filter such rows.")
		}
		out = append(out, t)
	}
	return nil
}

func (e *RecordEncoder) readHeaders() (err error) {
	if e.plan.headers == NoColumn {
		return nil
	}
	defer trap(&e.row, &err)
	e.out.Headers = &e.headers
	return e.appendHeaders(&e.cells[e.plan.headers])
}

func (e *RecordEncoder) refuse(c *cell, part, reason string) *RowError {
	return &RowError{Row: e.row, Part: part, Column: c.path, Reason: reason}
}
