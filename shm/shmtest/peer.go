// Package shmtest is a Go peer that plays the JVM: it maps segments from descriptors as a client does, reserves and parks
// slots, and also does what a broken client would do: tear descriptors, replay old words, scribble. It is for tests.
//
// A peer has a map of its own, so that its stores are foreign to the daemon's side of the same test. Methods may be called
// from several goroutines for different slots; Close must come last.
package shmtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"penstock.dev/penstock/shm"
)

// Segment is a client's map of a granted segment.
type Segment struct {
	// Mem is the whole segment, header included.
	Mem []byte
}

// Map maps a segment from its descriptor and checks its header as a client must. The descriptor stays the caller's.
func Map(fd int, bytes int64) (*Segment, error) {
	mem, err := unix.Mmap(fd, 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("peer maps %d bytes: %w", bytes, err)
	}
	s := &Segment{mem}
	if err := s.checkHeader(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Entry is the path by which a descriptor can be opened once more, as a JVM opens it to map it.
func Entry(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// MapSegment maps a segment of an arena in the same process.
func MapSegment(s *shm.Segment) (*Segment, error) {
	var peer *Segment
	err := s.WithFD(func(fd int) (err error) {
		peer, err = Map(fd, s.Bytes())
		return err
	})
	return peer, err
}

func (s *Segment) checkHeader() error {
	le := binary.LittleEndian
	switch h := s.Mem; {
	case atomic.LoadUint64(shm.WordAt(h, 0)) != shm.SegmentMagic:
		return errors.New("peer: header without magic")
	case le.Uint32(h[8:]) != shm.LayoutVersion:
		return fmt.Errorf("peer: layout version %d", le.Uint32(h[8:]))
	case le.Uint64(h[16:]) != shm.LayoutHash():
		return fmt.Errorf("peer: layout hash %#x", le.Uint64(h[16:]))
	case le.Uint64(h[40:]) != uint64(len(h)):
		return fmt.Errorf("peer: header says %d bytes, mapped %d", le.Uint64(h[40:]), len(h))
	}
	return nil
}

// ID is the segment id in the header.
func (s *Segment) ID() uint32 { return binary.LittleEndian.Uint32(s.Mem[32:]) }

// ArenaID is the arena id in the header.
func (s *Segment) ArenaID() uint64 { return binary.LittleEndian.Uint64(s.Mem[24:]) }

// Close unmaps.
func (s *Segment) Close() error { return unix.Munmap(s.Mem) }

// Descriptor is what a client writes into a slot; see shm/LAYOUT.md.
type Descriptor struct {
	SegmentID uint32
	SchemaTag uint32
	Offset    uint64
	Length    uint64
	Rows      uint32
	Flags     uint32
	Sequence  uint64
}

// Table is a client's view of its table segment.
type Table struct {
	*Segment
	session uint32
	first   uint32
	count   uint32
}

// MapTable maps the table of a session.
func MapTable(t *shm.Table) (*Table, error) {
	s, err := MapSegment(t.Segment())
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	return &Table{s, t.Owner(), le.Uint32(s.Mem[56:]), le.Uint32(s.Mem[60:])}, nil
}

// First is the number of the first slot, and Count how many there are, as the header says.
func (t *Table) First() uint32 { return t.first }

// Count is the number of slots, as the header says.
func (t *Table) Count() uint32 { return t.count }

// Slot is the memory of a slot; it panics when the slot is outside the table.
func (t *Table) Slot(slot uint32) []byte {
	at := shm.SegmentHeaderBytes + int(slot-t.first)*shm.SlotBytes
	return t.Mem[at : at+shm.SlotBytes]
}

func (t *Table) addr(slot uint32) *uint64 { return shm.WordAt(t.Slot(slot), shm.SlotState) }

// Word is the slot's state word.
func (t *Table) Word(slot uint32) shm.Word { return shm.Word(atomic.LoadUint64(t.addr(slot))) }

// SetWord stores any word, as a broken client might: a replay, a state that is none, another's name.
func (t *Table) SetWord(slot uint32, w shm.Word) { atomic.StoreUint64(t.addr(slot), uint64(w)) }

// Pressure is the word that counts up when the daemon wants idle segments back.
func (t *Table) Pressure() uint64 { return atomic.LoadUint64(shm.WordAt(t.Mem, 72)) }

// Reserve takes a free slot and returns its generation.
func (t *Table) Reserve(slot uint32) (uint32, error) {
	w, err := shm.Reserve.Swap(t.addr(slot), t.Word(slot), t.session)
	return w.Generation(), err
}

// Describe writes a descriptor with its checksum and leaves the word alone.
func (t *Table) Describe(slot uint32, d Descriptor) {
	b, le := t.Slot(slot), binary.LittleEndian
	le.PutUint32(b[shm.SlotSegmentID:], d.SegmentID)
	le.PutUint32(b[shm.SlotSchemaTag:], d.SchemaTag)
	le.PutUint64(b[shm.SlotOffset:], d.Offset)
	le.PutUint64(b[shm.SlotLength:], d.Length)
	le.PutUint32(b[shm.SlotRowCount:], d.Rows)
	le.PutUint32(b[shm.SlotFlags:], d.Flags)
	le.PutUint64(b[shm.SlotSequence:], d.Sequence)
	clear(b[shm.SlotReserved:shm.SlotCRC])
	le.PutUint32(b[shm.SlotCRC:], shm.SlotChecksum(b))
}

// Park reserves a slot, describes a batch and publishes it. It returns the generation that the handle names.
func (t *Table) Park(slot uint32, d Descriptor) (uint32, error) {
	generation, err := t.Reserve(slot)
	if err != nil {
		return generation, err
	}
	t.Describe(slot, d)
	_, err = shm.Park.Swap(t.addr(slot), t.Word(slot), t.session)
	return generation, err
}

// ParkBatch copies a batch body into a data segment at offset and parks it.
func (t *Table) ParkBatch(slot uint32, data *Segment, offset uint64, body []byte, d Descriptor) (uint32, error) {
	copy(data.Mem[offset:], body)
	d.SegmentID, d.Offset, d.Length = data.ID(), offset, uint64(len(body))
	return t.Park(slot, d)
}

// Tear parks a slot whose descriptor was written only up to byte at (8 to 60), over whatever the slot held before, as a
// client that died in the middle and whose word was published all the same.
func (t *Table) Tear(slot uint32, d Descriptor, at int) (uint32, error) {
	generation, err := t.Reserve(slot)
	if err != nil {
		return generation, err
	}
	old := append([]byte(nil), t.Slot(slot)...)
	t.Describe(slot, d)
	copy(t.Slot(slot)[at:], old[at:])
	_, err = shm.Park.Swap(t.addr(slot), t.Word(slot), t.session)
	return generation, err
}

// Replay publishes a slot once more under an old generation, with the descriptor it still holds.
func (t *Table) Replay(slot, generation uint32) {
	t.SetWord(slot, shm.MakeWord(generation, shm.Parked, t.session))
}

// Abandon gives a reserved slot up.
func (t *Table) Abandon(slot uint32) error {
	_, err := shm.Abandon.Swap(t.addr(slot), t.Word(slot), t.session)
	return err
}

// Scribble changes one byte of shared memory while others read it, by an atomic store of the word around it: one scribbler for each word.
func Scribble(mem []byte, at int, value byte) {
	addr := shm.WordAt(mem, at&^7)
	shift := 8 * (at & 7)
	old := atomic.LoadUint64(addr)
	atomic.StoreUint64(addr, old&^(0xff<<shift)|uint64(value)<<shift)
}
