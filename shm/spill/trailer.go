package spill

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Align is what every part of a file begins at a multiple of, in bytes.
const Align = 64

// TrailerBytes is the size of the trailer.
const TrailerBytes = 64

const (
	trailerMagic = 0x314c5053 // "SPL1"

	offMagic      = 0
	offVersion    = 4
	offDaemon     = 8
	offEntry      = 16
	offMessage    = 24
	offBatch      = 32
	offCRC        = 56
	offTrailerCRC = 60
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// trailer is what an entry says of itself.
type trailer struct {
	daemon, entry uint64
	// message and batch are lengths in bytes; the batch's is without padding.
	message, batch int64
	// crc covers message, batch and padding.
	crc uint32
}

// BodyBytes is the length of the Arrow body of an entry whose batch has this many bytes: what the record batch message must name.
func BodyBytes(batch int) int64 { return alignUp(int64(batch)) + TrailerBytes }

func alignUp(n int64) int64 { return (n + Align - 1) &^ (Align - 1) }

// entryBytes is the length of the whole entry.
func (t *trailer) entryBytes() int64 { return t.message + alignUp(t.batch) + TrailerBytes }

// encode writes the trailer over b.
func (t *trailer) encode(b *[TrailerBytes]byte) {
	clear(b[:])
	le := binary.LittleEndian
	le.PutUint32(b[offMagic:], trailerMagic)
	le.PutUint32(b[offVersion:], 1)
	le.PutUint64(b[offDaemon:], t.daemon)
	le.PutUint64(b[offEntry:], t.entry)
	le.PutUint64(b[offMessage:], uint64(t.message))
	le.PutUint64(b[offBatch:], uint64(t.batch))
	le.PutUint32(b[offCRC:], t.crc)
	le.PutUint32(b[offTrailerCRC:], crc32.Checksum(b[:offTrailerCRC], castagnoli))
}

// check compares an entry that was read with what was written, and says what differs; "" when nothing does.
func (t *trailer) check(entry []byte) string {
	le := binary.LittleEndian
	end := entry[len(entry)-TrailerBytes:]
	var want [TrailerBytes]byte
	t.encode(&want)
	if [TrailerBytes]byte(end) != want {
		return fmt.Sprintf("its trailer is that of entry %d of daemon %016x with the checksum %08x, not of entry %d of daemon %016x with %08x",
			le.Uint64(end[offEntry:]), le.Uint64(end[offDaemon:]), le.Uint32(end[offCRC:]), t.entry, t.daemon, t.crc)
	}
	if found := crc32.Checksum(entry[:len(entry)-TrailerBytes], castagnoli); found != t.crc {
		return fmt.Sprintf("its checksum is %08x, not %08x", found, t.crc)
	}
	return ""
}
