package ipc

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Align is what every message and every body begins at a multiple of, in bytes, counted from the start of the stream. The format asks
// for 8; 64 is what vector instructions want.
const Align = 64

// EndOfStream is the last message of a stream.
var EndOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

const (
	continuation = 0xffffffff
	prefixBytes  = 8 // continuation and length

	metadataV5 = 4

	headerSchema      = 1
	headerRecordBatch = 3
)

// Fields of the table Message.
const (
	messageVersion = iota
	messageHeaderType
	messageHeader
	messageBodyLength
	messageFields = 5
)

// message finishes a flatbuffer with the root table Message and gives it its prefix and its padding.
func message(b *flatbuffers.Builder, headerType byte, header flatbuffers.UOffsetT, bodyBytes int64) []byte {
	b.StartObject(messageFields)
	b.PrependInt64Slot(messageBodyLength, bodyBytes, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependInt16Slot(messageVersion, metadataV5, 0)
	b.PrependByteSlot(messageHeaderType, headerType, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	out := make([]byte, alignUp(prefixBytes+len(metadata)))
	binary.LittleEndian.PutUint32(out, continuation)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-prefixBytes))
	copy(out[prefixBytes:], metadata)
	return out
}

func alignUp(n int) int { return (n + Align - 1) &^ (Align - 1) }
