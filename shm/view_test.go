package shm_test

import (
	"bytes"
	"errors"
	"testing"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

func TestViewReadsWhatTheClientParked(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	body := bytes.Repeat([]byte("penstock"), 32)
	generation, err := s.peer.ParkBatch(s.first, s.mem, 8192, body, shmtest.Descriptor{SchemaTag: 3, Rows: 10, Flags: 1, Sequence: 4})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.view.Read(s.first, generation)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Release()
	want := shm.Descriptor{Slot: s.first, Generation: generation, SegmentID: s.data.ID(), SchemaTag: 3, Offset: 8192,
		Length: uint64(len(body)), Rows: 10, Flags: 1, Sequence: 4}
	if e.Descriptor != want {
		t.Errorf("got %+v, want %+v", e.Descriptor, want)
	}
	if !bytes.Equal(e.Body, body) || cap(e.Body) != len(body) {
		t.Errorf("the extent has %d bytes, room for %d", len(e.Body), cap(e.Body))
	}
}

func TestViewClaimsOnce(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	generation := s.park(t, s.first, s.descriptor())
	e, err := s.view.Claim(s.first, generation)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.view.Claim(s.first, generation)
	wantStale(t, err)
	_, err = s.view.Read(s.first, generation)
	wantStale(t, err)
	e.Release()
	e.Release()
	if err := s.table.Settle(s.first, generation, shm.Daemon); err != nil {
		t.Error(err)
	}
}

func TestViewSpills(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	generation := s.park(t, s.first, s.descriptor())
	e, err := s.view.Spill(s.first, generation)
	if err != nil || uint64(len(e.Body)) != s.descriptor().Length {
		t.Fatal(err)
	}
	_, err = s.view.Spill(s.first, generation)
	wantStale(t, err)
	_, err = s.view.Read(s.first, generation)
	wantStale(t, err)
	// The session may end meanwhile: the memory stays until the write has ended.
	s.arena.Revoke(1)
	if e.Body[0] = 1; e.Body[0] != 1 {
		t.Error("unreadable")
	}
	e.Release()
	if err := s.table.Spilled(s.first, generation); !errors.Is(err, shm.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestViewRefusesDescriptors(t *testing.T) {
	s := newSession(t, newArena(t, 4), 1)
	stranger := lease(t, s.arena, 2)
	slot := s.first
	for _, c := range []struct {
		name  string
		spoil func(*shmtest.Descriptor)
		field string // of the DescriptorError; empty for a ForeignError
	}{
		{"segment of another session", func(d *shmtest.Descriptor) { d.SegmentID = stranger.ID() }, ""},
		{"table as data", func(d *shmtest.Descriptor) { d.SegmentID = s.table.Segment().ID() }, ""},
		{"unknown segment", func(d *shmtest.Descriptor) { d.SegmentID = 1 << 31 }, ""},
		{"offset in the header", func(d *shmtest.Descriptor) { d.Offset = 64 }, "offset"},
		{"offset unaligned", func(d *shmtest.Descriptor) { d.Offset = 4096 + 8 }, "offset"},
		{"offset at the end", func(d *shmtest.Descriptor) { d.Offset = segmentBytes }, "length"},
		{"offset behind the end", func(d *shmtest.Descriptor) { d.Offset = segmentBytes + 64 }, "offset"},
		{"length short", func(d *shmtest.Descriptor) { d.Length = 63 }, "length"},
		{"length long", func(d *shmtest.Descriptor) { d.Length = segmentBytes - 4096 + 1 }, "length"},
		{"length overflows", func(d *shmtest.Descriptor) { d.Length = 1<<64 - 4096 }, "length"},
		{"rows", func(d *shmtest.Descriptor) { d.Rows = 1 << 31 }, "row count"},
		{"sequence", func(d *shmtest.Descriptor) { d.Sequence = 0 }, "sequence"},
	} {
		d := s.descriptor()
		c.spoil(&d)
		generation := s.park(t, slot, d)
		_, err := s.view.Claim(slot, generation)
		if c.field == "" {
			wantForeign(t, err)
		} else if bad := (*shm.DescriptorError)(nil); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%s: got %v, want a DescriptorError for %s", c.name, err, c.field)
		}
		if w := s.peer.Word(slot); w.State() != shm.Parked {
			t.Errorf("%s: a refused slot became %v", c.name, w)
		}
		slot++
		if slot == s.first+s.table.Count() {
			s.arena.Revoke(1)
			s = newSession(t, s.arena, 1)
			slot = s.first
		}
	}
}

func TestViewSeesTornDescriptors(t *testing.T) {
	for at := 12; at < shm.SlotCRC; at += 8 {
		s := newSession(t, newArena(t, 2), 1)
		generation, err := s.peer.Tear(s.first, s.descriptor(), at)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.view.Read(s.first, generation)
		var bad *shm.DescriptorError
		if !errors.As(err, &bad) || bad.Field != "crc32c" {
			t.Errorf("torn at byte %d: %v", at, err)
		}
	}
}

// The daemon reads a batch while its session dies: the memory must stay until the reading ends, and end then.
func TestPinnedExtentOutlivesItsSession(t *testing.T) {
	for name, end := range map[string]func(s *session){
		"revoke": func(s *session) { s.arena.Revoke(1) },
		"return": func(s *session) { _ = s.arena.Return(1, s.data.ID()); s.arena.Revoke(1) },
		"close":  func(s *session) { s.arena.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, newArena(t, 2), 1)
			s.mem.Mem[4096] = 42
			generation := s.park(t, s.first, s.descriptor())
			e, err := s.view.Claim(s.first, generation)
			if err != nil {
				t.Fatal(err)
			}
			end(s)
			if e.Body[0] != 42 {
				t.Error("the batch changed under the reader")
			}
			if st := stats(t, s.arena); st.Used-st.Orphans != segmentBytes || st.WarmSegments != 0 {
				t.Errorf("while it is read: %+v", st)
			}
			e.Release()
			for _, peer := range []*shmtest.Segment{s.mem, s.peer.Segment} {
				if err := peer.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s.arena.Sweep()
			if st := stats(t, s.arena); st.Used != st.Warm || st.Kernel != st.Warm {
				t.Errorf("after it was read: %+v", st)
			}
		})
	}
}

func FuzzView(f *testing.F) {
	s := newSession(f, newArena(f, 2), 1)
	slot := s.first
	good := make([]byte, shm.SlotBytes)
	s.peer.Describe(slot, s.descriptor())
	copy(good, s.peer.Slot(slot))
	f.Add(good, true, uint32(0))
	f.Add(bytes.Repeat([]byte{0xff}, shm.SlotBytes), false, uint32(7))
	var generation uint32
	f.Fuzz(func(t *testing.T, raw []byte, sealed bool, state uint32) {
		if len(raw) < shm.SlotBytes {
			return
		}
		mem := s.peer.Slot(slot)
		copy(mem[8:], raw[8:shm.SlotBytes])
		if sealed {
			// Random bytes never have the right checksum; let half of them through to the checks behind it.
			crc := shm.SlotChecksum(mem)
			mem[60], mem[61], mem[62], mem[63] = byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24)
		}
		word := shm.MakeWord(generation, shm.Parked, 1)
		if state != 0 {
			word = shm.MakeWord(generation, shm.State(state), state>>8)
		}
		s.peer.SetWord(slot, word)
		e, err := s.view.Claim(slot, generation)
		if err != nil {
			if !errors.As(err, new(*shm.StaleError)) && !errors.As(err, new(*shm.ForeignError)) && !errors.As(err, new(*shm.DescriptorError)) {
				t.Fatal(err)
			}
			return
		}
		if e.SegmentID != s.data.ID() || e.Offset < 4096 || e.Offset+e.Length > segmentBytes || uint64(len(e.Body)) != e.Length {
			t.Fatalf("%+v", e.Descriptor)
		}
		sum := 0
		for _, b := range e.Body {
			sum += int(b)
		}
		e.Release()
		if err := s.table.Settle(slot, generation, shm.Daemon); err != nil {
			t.Fatal(err, sum)
		}
		generation++
	})
}
