package ipc

import (
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"penstock.dev/penstock/columnar"
)

// Numbers of shm/LAYOUT.md, section Batches. Package columnar holds its own against the golden text; a test here compares what arrow-go
// reads.
const (
	batchHeaderBytes = 64
	offRowCount      = 8
	offNodeCount     = 12
	offBufferCount   = 16
	entryBytes       = 16 // of both tables
)

// Fields of the table RecordBatch.
const (
	recordLength = iota
	recordNodes
	recordBuffers
	recordFields = 4
)

// Batch is the encapsulated message of the batch in body; its length is a multiple of Align. bodyBytes is how many bytes will
// follow it: at least len(body), rounded up to a multiple of 8. body may be shared memory that its writer still scribbles on: tables are
// copied before they are checked. Whether the batch fits its schema is for columnar.Parser to say. The error wraps
// columnar.ErrMalformed.
func Batch(body []byte, bodyBytes int64) ([]byte, error) {
	if len(body) < batchHeaderBytes || bodyBytes < int64(len(body)) || bodyBytes%8 != 0 {
		return nil, malformed("%d bytes of a batch in a body of %d bytes", len(body), bodyBytes)
	}
	le := binary.LittleEndian
	rows, nodes, buffers := le.Uint32(body[offRowCount:]), int(le.Uint32(body[offNodeCount:])), int(le.Uint32(body[offBufferCount:]))
	if buffers < 1 || int64(batchHeaderBytes)+entryBytes*(int64(nodes)+int64(buffers)) > int64(len(body)) {
		return nil, malformed("%d nodes and %d buffers in %d bytes", nodes, buffers, len(body))
	}
	tables := append([]byte(nil), body[batchHeaderBytes:batchHeaderBytes+entryBytes*(nodes+buffers)]...)
	if err := checkBuffers(tables[entryBytes*nodes:], len(body)); err != nil {
		return nil, err
	}
	b := flatbuffers.NewBuilder(len(tables) + 256)
	// The first buffer has the row kinds and belongs to no column.
	bufferVector := pairs(b, tables[entryBytes*(nodes+1):])
	nodeVector := pairs(b, tables[:entryBytes*nodes])
	b.StartObject(recordFields)
	b.PrependInt64Slot(recordLength, int64(rows), 0)
	b.PrependUOffsetTSlot(recordNodes, nodeVector, 0)
	b.PrependUOffsetTSlot(recordBuffers, bufferVector, 0)
	return message(b, headerRecordBatch, b.EndObject(), bodyBytes), nil
}

// checkBuffers sees that every buffer that has bytes lies in the body; an empty one may point anywhere and is set to 0.
func checkBuffers(table []byte, size int) error {
	le := binary.LittleEndian
	for at := 0; at < len(table); at += entryBytes {
		offset, length := le.Uint64(table[at:]), le.Uint64(table[at+8:])
		switch {
		case length == 0:
			le.PutUint64(table[at:], 0)
		case offset > uint64(size) || length > uint64(size)-offset:
			return malformed("buffer %d at %d with %d bytes is outside the batch of %d bytes", at/entryBytes, offset, length, size)
		}
	}
	return nil
}

// pairs writes a vector of structs of two int64 each, FieldNode or Buffer, which both have the form of our tables.
func pairs(b *flatbuffers.Builder, table []byte) flatbuffers.UOffsetT {
	n := len(table) / entryBytes
	b.StartVector(entryBytes, n, 8)
	for i := n - 1; i >= 0; i-- {
		b.PrependUint64(binary.LittleEndian.Uint64(table[i*entryBytes+8:]))
		b.PrependUint64(binary.LittleEndian.Uint64(table[i*entryBytes:]))
	}
	return b.EndVector(n)
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{columnar.ErrMalformed}, args...)...)
}
