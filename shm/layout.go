package shm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// LayoutVersion is the version of LAYOUT.md. It changes with every change of the golden text.
const LayoutVersion = 1

// Segments: the header of each memfd.
const (
	// SegmentHeaderBytes is the size of the header; slots and extents start behind it.
	SegmentHeaderBytes = 4096
	// Align is what every extent's offset is a multiple of, in bytes.
	Align = 64
	// SegmentMagic is the first word of a finished header; it is written last.
	SegmentMagic = 0x314b434f54534e50

	segMagic      = 0
	segVersion    = 8
	segKind       = 12
	segLayoutHash = 16
	segArenaID    = 24
	segID         = 32
	segSlotBytes  = 36
	segBytes      = 40
	segDataOffset = 48
	segFirstSlot  = 56
	segSlotCount  = 60
	segCRC        = 64
	segPressure   = 72
)

// SegmentKind says what a segment holds.
type SegmentKind uint32

// The kinds of segments.
const (
	TableSegment SegmentKind = 1
	DataSegment  SegmentKind = 2
)

// Slots of the handle table. The offsets are exported for peers in tests.
const (
	// SlotBytes is the size of one slot.
	SlotBytes = 64

	SlotState     = 0
	SlotSegmentID = 8
	SlotSchemaTag = 12
	SlotOffset    = 16
	SlotLength    = 24
	SlotRowCount  = 32
	SlotFlags     = 36
	SlotSequence  = 40
	SlotReserved  = 48
	SlotCRC       = 60
)

// Bits of the state word.
const (
	ownerBits      = 24
	stateBits      = 8
	generationBits = 32

	// MaxOwner is the greatest session id.
	MaxOwner = 1<<ownerBits - 1
)

// Batches and frames; this package only checks that an extent can hold a batch, package columnar reads it.
const (
	batchMagic       = 0x31544250
	batchVersion     = 1
	batchHeaderBytes = 64
	frameBytes       = 28
)

// goldenLines are the names and values of testdata/layout.golden in order.
var goldenLines = []struct {
	name  string
	value uint64
}{
	{"layout.version", LayoutVersion},
	{"segment.header_bytes", SegmentHeaderBytes},
	{"segment.align", Align},
	{"segment.magic", SegmentMagic},
	{"segment.off.magic", segMagic},
	{"segment.off.layout_version", segVersion},
	{"segment.off.kind", segKind},
	{"segment.off.layout_hash", segLayoutHash},
	{"segment.off.arena_id", segArenaID},
	{"segment.off.segment_id", segID},
	{"segment.off.slot_bytes", segSlotBytes},
	{"segment.off.segment_bytes", segBytes},
	{"segment.off.data_offset", segDataOffset},
	{"segment.off.first_slot", segFirstSlot},
	{"segment.off.slot_count", segSlotCount},
	{"segment.off.header_crc32c", segCRC},
	{"segment.off.pressure", segPressure},
	{"segment.kind.table", uint64(TableSegment)},
	{"segment.kind.data", uint64(DataSegment)},
	{"slot.bytes", SlotBytes},
	{"slot.off.state", SlotState},
	{"slot.off.segment_id", SlotSegmentID},
	{"slot.off.schema_tag", SlotSchemaTag},
	{"slot.off.offset", SlotOffset},
	{"slot.off.length", SlotLength},
	{"slot.off.row_count", SlotRowCount},
	{"slot.off.flags", SlotFlags},
	{"slot.off.sequence", SlotSequence},
	{"slot.off.reserved", SlotReserved},
	{"slot.off.crc32c", SlotCRC},
	{"state.owner_bits", ownerBits},
	{"state.state_bits", stateBits},
	{"state.generation_bits", generationBits},
	{"state.free", uint64(Free)},
	{"state.reserved", uint64(Reserved)},
	{"state.parked", uint64(Parked)},
	{"state.claimed", uint64(Claimed)},
	{"state.spilling", uint64(Spilling)},
	{"state.on_disk", uint64(OnDisk)},
	{"batch.magic", batchMagic},
	{"batch.version", batchVersion},
	{"batch.header_bytes", batchHeaderBytes},
	{"batch.align", Align},
	{"batch.off.magic", 0},
	{"batch.off.version", 4},
	{"batch.off.flags", 6},
	{"batch.off.row_count", 8},
	{"batch.off.node_count", 12},
	{"batch.off.buffer_count", 16},
	{"batch.off.schema_tag", 20},
	{"batch.off.body_bytes", 24},
	{"batch.flag.all_insert", 1},
	{"batch.node_bytes", 16},
	{"batch.buffer_bytes", 16},
	{"frame.bytes", frameBytes},
	{"frame.off.tag", 0},
	{"frame.off.arena_id", 4},
	{"frame.off.slot", 12},
	{"frame.off.generation", 16},
	{"frame.off.key_group", 20},
	{"frame.off.crc32c", 24},
}

// LayoutText is every number that both languages use, as in testdata/layout.golden. The Java side renders the same text
// from its own constants.
func LayoutText() string {
	var b strings.Builder
	for _, l := range goldenLines {
		if strings.HasSuffix(l.name, ".magic") && !strings.Contains(l.name, ".off.") {
			fmt.Fprintf(&b, "%s=%#x\n", l.name, l.value)
		} else {
			fmt.Fprintf(&b, "%s=%d\n", l.name, l.value)
		}
	}
	return b.String()
}

var layoutHash = func() uint64 {
	sum := sha256.Sum256([]byte(LayoutText()))
	return binary.LittleEndian.Uint64(sum[:])
}()

// LayoutHash is what both sides exchange in Hello: the first eight bytes of the SHA-256 of LayoutText, little-endian.
func LayoutHash() uint64 { return layoutHash }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SlotChecksum is the CRC32C of a slot's bytes 8 to 59. slot has at least SlotBytes bytes.
func SlotChecksum(slot []byte) uint32 { return crc32.Checksum(slot[SlotSegmentID:SlotCRC], castagnoli) }

func headerChecksum(header []byte) uint32 {
	return crc32.Checksum(header[segVersion:segCRC], castagnoli)
}
