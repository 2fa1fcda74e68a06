package shm_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// session is a daemon's side and a client's side of one session with one data segment.
type session struct {
	arena *shm.Arena
	table *shm.Table
	view  *shm.View
	data  *shm.Segment
	peer  *shmtest.Table
	mem   *shmtest.Segment
	first uint32
}

func newSession(t testing.TB, a *shm.Arena, id uint32) *session {
	t.Helper()
	table, err := a.NewTable(id, 8)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := shmtest.MapTable(table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })
	data := lease(t, a, id)
	return &session{a, table, shm.NewView(a, table), data, peer, mapSegment(t, data), table.First()}
}

// descriptor is one that passes every check.
func (s *session) descriptor() shmtest.Descriptor {
	return shmtest.Descriptor{SegmentID: s.data.ID(), SchemaTag: 3, Offset: 4096, Length: 256, Rows: 10, Flags: 1, Sequence: 1}
}

func (s *session) park(t testing.TB, slot uint32, d shmtest.Descriptor) uint32 {
	t.Helper()
	generation, err := s.peer.Park(slot, d)
	if err != nil {
		t.Fatal(err)
	}
	return generation
}

func wantStale(t testing.TB, err error) {
	t.Helper()
	var stale *shm.StaleError
	if !errors.As(err, &stale) {
		t.Errorf("got %v, want a StaleError", err)
	}
}

func wantForeign(t testing.TB, err error) {
	t.Helper()
	var foreign *shm.ForeignError
	if !errors.As(err, &foreign) {
		t.Errorf("got %v, want a ForeignError", err)
	}
}

func TestSlotRangesDoNotOverlap(t *testing.T) {
	a := newArena(t, 4)
	one, two := newSession(t, a, 1), newSession(t, a, 2)
	if two.first != one.first+one.table.Count() || two.peer.First() != two.first || two.peer.Count() != 8 {
		t.Errorf("ranges start at %d and %d", one.first, two.first)
	}
	generation := two.park(t, two.first, two.descriptor())
	wantForeign(t, one.table.Claim(two.first, generation, shm.Daemon))
	wantForeign(t, one.table.Settle(two.first, generation, shm.Daemon))
	_, err := one.view.Read(two.first, generation)
	wantForeign(t, err)
	if err := two.table.Claim(two.first, generation, shm.Daemon); err != nil {
		t.Error(err)
	}
	a.Revoke(1)
	if three := newSession(t, a, 1); three.first != two.first+8 {
		t.Errorf("a slot number is used again: the third range starts at %d", three.first)
	}
}

func TestNewTableRefuses(t *testing.T) {
	a := newArena(t, 4)
	newSession(t, a, 1)
	for _, bad := range [][2]uint32{{1, 8}, {0, 8}, {shm.MaxOwner + 1, 8}, {2, 0}, {2, 1<<24 + 1}} {
		if _, err := a.NewTable(bad[0], bad[1]); err == nil {
			t.Errorf("session %d got a table of %d slots", bad[0], bad[1])
		}
	}
	if s := stats(t, a); s.TableSegments != 1 || s.Used != s.Leased+s.Tables {
		t.Errorf("a refused table left something behind: %+v", s)
	}
}

func TestLifeOfASlot(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	for round := range uint32(3) {
		generation := s.park(t, s.first, s.descriptor())
		if generation != round {
			t.Errorf("round %d has generation %d", round, generation)
		}
		if err := s.table.Claim(s.first, generation, shm.Daemon); err != nil {
			t.Fatal(err)
		}
		wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
		wantStale(t, s.table.Settle(s.first, generation+1, shm.Daemon))
		wantStale(t, s.table.Settle(s.first, generation, 1))
		if err := s.table.Settle(s.first, generation, shm.Daemon); err != nil {
			t.Fatal(err)
		}
		wantStale(t, s.table.Settle(s.first, generation, shm.Daemon))
		if w := s.peer.Word(s.first); w != shm.MakeWord(round+1, shm.Free, 0) {
			t.Errorf("after round %d the client sees %v", round, w)
		}
	}
}

func TestClaimNeedsAParkedSlotOfTheGeneration(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	wantStale(t, s.table.Claim(s.first, 0, shm.Daemon)) // FREE
	if _, err := s.peer.Reserve(s.first); err != nil {
		t.Fatal(err)
	}
	wantStale(t, s.table.Claim(s.first, 0, shm.Daemon)) // RESERVED
	if err := s.peer.Abandon(s.first); err != nil {
		t.Fatal(err)
	}
	generation := s.park(t, s.first, s.descriptor())
	if generation != 1 {
		t.Errorf("abandoning left generation %d", generation)
	}
	wantStale(t, s.table.Claim(s.first, generation-1, shm.Daemon))
	wantStale(t, s.table.Claim(s.first, generation+1, shm.Daemon))
	s.peer.SetWord(s.first, shm.MakeWord(generation, shm.Parked, 2))
	wantForeign(t, s.table.Claim(s.first, generation, shm.Daemon))
	s.peer.SetWord(s.first, shm.MakeWord(generation, 77, 1))
	wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
}

// A client turns words back; the daemon must not take a batch twice.
func TestReplaysAreRefused(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	generation := s.park(t, s.first, s.descriptor())
	if err := s.table.Claim(s.first, generation, shm.Daemon); err != nil {
		t.Fatal(err)
	}
	s.peer.Replay(s.first, generation) // while it is claimed
	wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
	s.peer.Replay(s.first, generation+1)
	wantStale(t, s.table.Claim(s.first, generation+1, shm.Daemon))
	wantStale(t, s.table.Settle(s.first, generation, shm.Daemon)) // the word is not the daemon's any more

	s.peer.Replay(s.first, generation) // after it is over
	wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
	s.peer.Replay(s.first, generation+1)
	if err := s.table.Claim(s.first, generation+1, shm.Daemon); err != nil {
		t.Errorf("the next generation: %v", err)
	}
}

// While the disk gets a batch nobody can claim it; afterwards its slot is free, or it is parked again and can be claimed once.
func TestSpillTakesTheBatchForAWhile(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	generation := s.park(t, s.first, s.descriptor())
	for range 2 {
		if err := s.table.Spill(s.first, generation); err != nil {
			t.Fatal(err)
		}
		if w := s.peer.Word(s.first); w != shm.MakeWord(generation, shm.Spilling, 0) {
			t.Errorf("the client sees %v", w)
		}
		if torn := s.table.Compare(); len(torn) != 0 {
			t.Errorf("a batch on its way to the disk is taken for a defect: %+v", torn)
		}
		wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
		wantStale(t, s.table.Spill(s.first, generation))
		s.peer.Replay(s.first, generation)
		wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
		s.peer.SetWord(s.first, shm.MakeWord(generation, shm.Spilling, 0))
		if err := s.table.SpillFailed(s.first, generation); err != nil {
			t.Fatal(err)
		}
		if w := s.peer.Word(s.first); w != shm.MakeWord(generation, shm.Parked, 1) {
			t.Errorf("the client sees %v", w)
		}
		wantStale(t, s.table.SpillFailed(s.first, generation))
		wantStale(t, s.table.Spilled(s.first, generation))
	}
	if err := s.table.Spill(s.first, generation); err != nil {
		t.Fatal(err)
	}
	if err := s.table.Spilled(s.first, generation); err != nil {
		t.Fatal(err)
	}
	if w := s.peer.Word(s.first); w != shm.MakeWord(generation+1, shm.Free, 0) {
		t.Errorf("the client sees %v", w)
	}
	s.peer.Replay(s.first, generation)
	wantStale(t, s.table.Claim(s.first, generation, shm.Daemon))
	wantStale(t, s.table.Spill(s.first, generation))

	// Parked again means that it can be claimed, once.
	s.peer.SetWord(s.first, shm.MakeWord(generation+1, shm.Free, 0))
	next := s.park(t, s.first, s.descriptor())
	for _, err := range []error{s.table.Spill(s.first, next), s.table.SpillFailed(s.first, next), s.table.Claim(s.first, next, shm.Daemon)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantStale(t, s.table.Spill(s.first, next))

	s.table.RevokeAll()
	wantStale(t, s.table.Spill(s.first, next+1))
	wantStale(t, s.table.SpillFailed(s.first, next))
}

func TestOneOfManyClaims(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	for range 200 {
		generation := s.park(t, s.first, s.descriptor())
		var winners atomic.Int32
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				<-start
				if err := s.table.Claim(s.first, generation, shm.Daemon); err == nil {
					winners.Add(1)
				} else if !errors.As(err, new(*shm.StaleError)) {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		if n := winners.Load(); n != 1 {
			t.Fatalf("%d claims succeeded", n)
		}
		if err := s.table.Settle(s.first, generation, shm.Daemon); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRevokeAll(t *testing.T) {
	s := newSession(t, newArena(t, 2), 1)
	claimed := s.park(t, s.first, s.descriptor())
	if err := s.table.Claim(s.first, claimed, shm.Daemon); err != nil {
		t.Fatal(err)
	}
	parked := s.park(t, s.first+1, s.descriptor())
	if _, err := s.peer.Reserve(s.first + 2); err != nil {
		t.Fatal(err)
	}
	s.peer.SetWord(s.first+3, shm.MakeWord(9, 200, 5))
	c := s.table.Counts()
	if c.States[shm.Free] != 4 || c.States[shm.Claimed] != 1 || c.States[shm.Parked] != 1 || c.States[shm.Reserved] != 1 || c.Invalid != 1 {
		t.Errorf("before: %+v", c)
	}
	if n := s.table.RevokeAll(); n != 4 {
		t.Errorf("revoked %d slots", n)
	}
	if c = s.table.Counts(); c.States[shm.Free] != 8 {
		t.Errorf("after: %+v", c)
	}
	wantStale(t, s.table.Settle(s.first, claimed, shm.Daemon))
	wantStale(t, s.table.Claim(s.first+1, parked, shm.Daemon))
	s.peer.Replay(s.first+1, parked)
	wantStale(t, s.table.Claim(s.first+1, parked, shm.Daemon))
	if w := s.peer.Word(s.first + 3); w != shm.MakeWord(10, shm.Free, 0) {
		t.Errorf("the scribbled word became %v", w)
	}
}

func TestTableAfterRevoke(t *testing.T) {
	a := newArena(t, 2)
	s := newSession(t, a, 1)
	a.Revoke(1)
	for name, err := range map[string]error{
		"claim":  s.table.Claim(s.first, 0, shm.Daemon),
		"settle": s.table.Settle(s.first, 0, shm.Daemon),
	} {
		if !errors.Is(err, shm.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.view.Read(s.first, 0); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
	if s.table.RevokeAll() != 0 || s.table.Counts() != (shm.SlotCounts{}) {
		t.Error("a table that is gone has slots")
	}
}
