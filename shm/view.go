package shm

import (
	"encoding/binary"
	"sync/atomic"
)

// Descriptor is a private copy of one slot, checked against the session's leases. Sizes are in bytes.
type Descriptor struct {
	Slot       uint32
	Generation uint32
	SegmentID  uint32
	SchemaTag  uint32
	Offset     uint64
	Length     uint64
	// Rows is the slot's row count. It is only known to be plausible: compare it with the parsed batch.
	Rows     uint32
	Flags    uint32
	Sequence uint64
}

// Extent is a batch in shared memory, pinned for reading.
type Extent struct {
	Descriptor
	// Body is exactly the batch. The client can still change its bytes, but not take them away.
	Body    []byte
	segment *Segment
}

// Release ends the reading of Body; the daemon releases before it settles, so that a session which sees its slots free can
// give the segment back. Releasing twice is harmless. Not safe for concurrent use.
func (e *Extent) Release() {
	if e.segment != nil {
		e.segment.unpin()
		e.segment, e.Body = nil, nil
	}
}

// View reads the slots of one session. Safe for concurrent use.
type View struct {
	arena *Arena
	table *Table
}

// NewView is the view over a session's table and the data segments leased to the table's owner.
func NewView(a *Arena, t *Table) *View { return &View{a, t} }

// Read copies a slot once, checks every number of the copy and pins the extent; it does not change the slot. The caller
// releases the extent. Errors: *StaleError, *ForeignError, *DescriptorError, ErrClosed.
func (v *View) Read(slot, generation uint32) (*Extent, error) {
	t := v.table
	if !t.segment.pin() {
		return nil, ErrClosed
	}
	defer t.segment.unpin()
	mem, err := t.slot(slot)
	if err != nil {
		return nil, err
	}
	// The word comes first: its acquire pairs with the client's release when it parked.
	word := Word(atomic.LoadUint64(WordAt(mem, SlotState)))
	if err := t.checkParked(slot, generation, word); err != nil {
		return nil, err
	}
	if word.State() != Parked {
		return nil, &StaleError{slot, generation, word, "the batch is not in memory"}
	}
	var private [SlotBytes]byte
	copy(private[:], mem)
	d, err := parseDescriptor(&private, slot, generation)
	if err != nil {
		return nil, err
	}
	s, err := v.arena.pinLease(t.owner, d.SegmentID)
	if err != nil {
		return nil, err
	}
	if err := d.checkRange(uint64(s.Bytes())); err != nil {
		s.unpin()
		return nil, err
	}
	end := d.Offset + d.Length
	return &Extent{Descriptor: d, Body: s.m.mem[d.Offset:end:end], segment: s}, nil
}

// Claim reads a slot and claims it for the daemon. After an error nothing is claimed. Errors are those of Read and
// Table.Claim. The caller releases the extent and then settles the slot.
func (v *View) Claim(slot, generation uint32) (*Extent, error) {
	e, err := v.Read(slot, generation)
	if err != nil {
		return nil, err
	}
	if err := v.table.Claim(slot, generation, Daemon); err != nil {
		e.Release()
		return nil, err
	}
	return e, nil
}

// Spill reads a slot and takes it for the time in which it is written to a disk: see Table.Spill. After an error nothing is taken. The
// caller releases the extent and then tells the table Spilled or SpillFailed.
func (v *View) Spill(slot, generation uint32) (*Extent, error) {
	e, err := v.Read(slot, generation)
	if err != nil {
		return nil, err
	}
	if err := v.table.Spill(slot, generation); err != nil {
		e.Release()
		return nil, err
	}
	return e, nil
}

func parseDescriptor(b *[SlotBytes]byte, slot, generation uint32) (Descriptor, error) {
	le := binary.LittleEndian
	if want, got := SlotChecksum(b[:]), le.Uint32(b[SlotCRC:]); want != got {
		return Descriptor{}, &DescriptorError{slot, "crc32c", uint64(got), "does not fit the descriptor: torn or overwritten"}
	}
	return Descriptor{
		Slot: slot, Generation: generation,
		SegmentID: le.Uint32(b[SlotSegmentID:]),
		SchemaTag: le.Uint32(b[SlotSchemaTag:]),
		Offset:    le.Uint64(b[SlotOffset:]),
		Length:    le.Uint64(b[SlotLength:]),
		Rows:      le.Uint32(b[SlotRowCount:]),
		Flags:     le.Uint32(b[SlotFlags:]),
		Sequence:  le.Uint64(b[SlotSequence:]),
	}, nil
}

// spareRows is how many rows a batch may claim beyond one for each of its bytes, as in package columnar.
const spareRows = 1 << 20

func (d *Descriptor) checkRange(segmentBytes uint64) error {
	bad := func(field string, value uint64, reason string) error {
		return &DescriptorError{d.Slot, field, value, reason}
	}
	switch {
	case d.Offset < SegmentHeaderBytes || d.Offset > segmentBytes:
		return bad("offset", d.Offset, "is outside the segment's data")
	case d.Offset%Align != 0:
		return bad("offset", d.Offset, "is not a multiple of 64")
	case d.Length < batchHeaderBytes:
		return bad("length", d.Length, "is less than a batch header")
	case d.Length > segmentBytes-d.Offset:
		return bad("length", d.Length, "reaches beyond the segment")
	case uint64(d.Rows) > d.Length+spareRows:
		return bad("row count", uint64(d.Rows), "cannot be held by the extent")
	case d.Sequence == 0:
		return bad("sequence", 0, "is not possible; batches count from 1")
	}
	return nil
}
