package encode

import (
	"fmt"

	"penstock.dev/penstock/columnar"
)

// Envelope is one of Flink's changelog formats over json. All write one record for each row, so that an update is two.
type Envelope uint8

// The envelopes; the zero value is refused.
const (
	EnvelopeUnknown Envelope = iota
	// EnvelopeDebezium is debezium-json: before, after and op (DebeziumJsonSerializationSchema).
	EnvelopeDebezium
	// EnvelopeCanal is canal-json: data as an array of one row, and type (CanalJsonSerializationSchema).
	EnvelopeCanal
	// EnvelopeMaxwell is maxwell-json: data and type (MaxwellJsonSerializationSchema).
	EnvelopeMaxwell
	// EnvelopeOgg is ogg-json: before, after and op_type (OggJsonSerializationSchema).
	EnvelopeOgg
)

// image is the text around a row.
type image struct {
	before, after []byte
}

// images has the image for each kind of change: a row that is there from now on (INSERT, UPDATE_AFTER), or no longer (DELETE,
// UPDATE_BEFORE).
type images struct {
	added, removed image
}

var envelopes = [...]struct {
	format string
	// full and sparse are the images with null members and without them.
	full, sparse images
}{
	EnvelopeDebezium: {
		"debezium-json",
		images{newImage(`{"before":null,"after":`, `,"op":"c"}`), newImage(`{"before":`, `,"after":null,"op":"d"}`)},
		images{newImage(`{"after":`, `,"op":"c"}`), newImage(`{"before":`, `,"op":"d"}`)},
	},
	EnvelopeCanal: {
		"canal-json",
		images{newImage(`{"data":[`, `],"type":"INSERT"}`), newImage(`{"data":[`, `],"type":"DELETE"}`)},
		images{newImage(`{"data":[`, `],"type":"INSERT"}`), newImage(`{"data":[`, `],"type":"DELETE"}`)},
	},
	EnvelopeMaxwell: {
		"maxwell-json",
		images{newImage(`{"data":`, `,"type":"insert"}`), newImage(`{"data":`, `,"type":"delete"}`)},
		images{newImage(`{"data":`, `,"type":"insert"}`), newImage(`{"data":`, `,"type":"delete"}`)},
	},
	EnvelopeOgg: {
		"ogg-json",
		images{newImage(`{"before":null,"after":`, `,"op_type":"I"}`), newImage(`{"before":`, `,"after":null,"op_type":"D"}`)},
		images{newImage(`{"after":`, `,"op_type":"I"}`), newImage(`{"before":`, `,"op_type":"D"}`)},
	},
}

func newImage(before, after string) image { return image{[]byte(before), []byte(after)} }

// CompileChangelog compiles a row type for one of Flink's changelog formats; opts are the encode options of the format's own
// prefix. The row kinds of each batch choose the images. Errors are as those of CompileJSON.
func CompileChangelog(envelope Envelope, row *columnar.Type, opts JSONOptions) (*Plan, error) {
	if envelope == EnvelopeUnknown || int(envelope) >= len(envelopes) {
		return nil, fmt.Errorf("changelog json: unknown envelope %d: use debezium, canal, maxwell or ogg", envelope)
	}
	wrap := &envelopes[envelope]
	p, err := compileJSON(wrap.format, row, opts)
	if err != nil {
		return nil, err
	}
	p.layout, p.images = layoutChangelog, wrap.full
	if opts.IgnoreNullFields {
		p.images = wrap.sparse
	}
	return p, nil
}

// Row kinds, as in org.apache.flink.types.RowKind.
const (
	kindInsert = iota
	kindUpdateBefore
	kindUpdateAfter
	kindDelete
)

// appendChange writes row i in the envelope of its kind.
func (e *Encoder) appendChange(dst []byte, i int) []byte {
	around := e.imageOf(i)
	dst = append(dst, around.before...)
	dst = e.appendRow(dst, e.cells, i)
	return append(dst, around.after...)
}

// removed reports whether row i is one that is no longer there.
func (e *Encoder) removed(i int) bool {
	if e.kinds == nil {
		return false
	}
	switch kind := e.kinds[i]; kind {
	case kindInsert, kindUpdateAfter:
		return false
	case kindUpdateBefore, kindDelete:
		return true
	default:
		e.fail(badBatchf("row %d has the kind %d: at most %d", i, kind, kindDelete))
		return false
	}
}

// imageOf chooses what stands around row i by its kind.
func (e *Encoder) imageOf(i int) *image {
	if e.removed(i) {
		return &e.plan.images.removed
	}
	return &e.plan.images.added
}
