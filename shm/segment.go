package shm

import (
	"encoding/binary"
	"sync/atomic"
)

// Segment is one grant of a mapped memfd. It stays mapped while it is granted or pinned; a grant that is over cannot be
// pinned again, so that whoever still holds the pointer gets ErrClosed instead of another session's memory.
// Safe for concurrent use.
type Segment struct {
	id   uint32
	kind SegmentKind
	m    *mapping
	// refs is one for the grant and one for each pin; at 0 the grant is over.
	refs atomic.Int64
	// over is called once, when the last pin of an ended grant is gone.
	over func(*mapping)
}

// newSegment writes a header over m and opens a grant. firstSlot and slotCount are for tables.
func (a *Arena) newSegment(m *mapping, id uint32, kind SegmentKind, firstSlot, slotCount uint32) *Segment {
	h := m.mem[:SegmentHeaderBytes]
	atomic.StoreUint64(WordAt(h, segMagic), 0)
	clear(h[segVersion:])
	le := binary.LittleEndian
	le.PutUint32(h[segVersion:], LayoutVersion)
	le.PutUint32(h[segKind:], uint32(kind))
	le.PutUint64(h[segLayoutHash:], layoutHash)
	le.PutUint64(h[segArenaID:], a.id)
	le.PutUint32(h[segID:], id)
	le.PutUint64(h[segBytes:], uint64(len(m.mem)))
	le.PutUint64(h[segDataOffset:], SegmentHeaderBytes)
	if kind == TableSegment {
		le.PutUint32(h[segSlotBytes:], SlotBytes)
		le.PutUint32(h[segFirstSlot:], firstSlot)
		le.PutUint32(h[segSlotCount:], slotCount)
	}
	le.PutUint32(h[segCRC:], headerChecksum(h))
	atomic.StoreUint64(WordAt(h, segMagic), SegmentMagic)
	s := &Segment{id: id, kind: kind, m: m, over: a.retire}
	s.refs.Store(1)
	return s
}

// ID is unique in the arena's life; a recycled memfd gets a new one with each grant.
func (s *Segment) ID() uint32 { return s.id }

// Kind says what the segment holds.
func (s *Segment) Kind() SegmentKind { return s.kind }

// Bytes is the size of the segment, its header included.
func (s *Segment) Bytes() int64 { return int64(len(s.m.mem)) }

// WithFD calls use with the segment's descriptor, which is valid during the call only; it is sent to the client with
// SCM_RIGHTS, which duplicates it. It returns use's error, or ErrClosed.
func (s *Segment) WithFD(use func(fd int) error) error {
	if !s.pin() {
		return ErrClosed
	}
	defer s.unpin()
	return s.m.withGrant(use)
}

// KernelBytes is how much memory the kernel holds for the segment; it equals Bytes from before the grant.
func (s *Segment) KernelBytes() (int64, error) {
	if !s.pin() {
		return 0, ErrClosed
	}
	defer s.unpin()
	return kernelBytes(s.m.fd)
}

// pin keeps the segment mapped until unpin. It fails when the grant is over.
func (s *Segment) pin() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// unpin gives a pin or the grant back; the last one ends the segment.
func (s *Segment) unpin() {
	if s.refs.Add(-1) == 0 {
		s.over(s.m)
	}
}
