package shm_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

const segmentBytes = 64 << 10

func newArena(t testing.TB, segments int64) *shm.Arena {
	t.Helper()
	a, err := shm.NewArena(shm.Config{Capacity: segments * segmentBytes, SegmentBytes: segmentBytes, WarmSegments: int(min(segments, 2))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func lease(t testing.TB, a *shm.Arena, owner uint32) *shm.Segment {
	t.Helper()
	s, err := a.Lease(owner, "test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stats(t testing.TB, a *shm.Arena) shm.Stats {
	t.Helper()
	s, err := a.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mapSegment(t testing.TB, s *shm.Segment) *shmtest.Segment {
	t.Helper()
	p, err := shmtest.MapSegment(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		config shm.Config
		want   string
	}{
		{shm.Config{Capacity: 1 << 20, SegmentBytes: 5000}, "segment size 5000"},
		{shm.Config{Capacity: 1 << 20, SegmentBytes: 4096}, "segment size 4096"},
		{shm.Config{Capacity: 1 << 40, SegmentBytes: 1 << 31}, "below 2 GiB"},
		{shm.Config{Capacity: 8192, SegmentBytes: 16384}, "arena capacity 8192"},
		{shm.Config{Capacity: 32768, SegmentBytes: 16384, WarmSegments: 3}, "3 warm segments"},
	} {
		if _, err := shm.NewArena(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}

func TestArenaIDsDiffer(t *testing.T) {
	if a, b := newArena(t, 1), newArena(t, 1); a.ID() == b.ID() {
		t.Errorf("two arenas have the id %#x", a.ID())
	}
}

func TestHeaderTellsTheClient(t *testing.T) {
	a := newArena(t, 4)
	s := lease(t, a, 1)
	p := mapSegment(t, s)
	if p.ID() != s.ID() || p.ArenaID() != a.ID() || s.Kind() != shm.DataSegment {
		t.Errorf("header says segment %d of arena %#x", p.ID(), p.ArenaID())
	}
}

func TestDenial(t *testing.T) {
	a := newArena(t, 2)
	first := lease(t, a, 3)
	lease(t, a, 3)
	_, err := a.Lease(4, "sink orders")
	var denied *shm.DeniedError
	if !errors.As(err, &denied) {
		t.Fatal(err)
	}
	if denied.Owner != 4 || denied.Requested != segmentBytes || denied.Used != 2*segmentBytes || denied.Capacity != 2*segmentBytes {
		t.Errorf("%+v", denied)
	}
	for _, part := range []string{"session 4", `"sink orders"`, "65536", "131072 of 131072"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
	if err := a.Return(3, first.ID()); err != nil {
		t.Fatal(err)
	}
	lease(t, a, 4)
	if s := stats(t, a); s.Denied != 1 {
		t.Errorf("%+v", s)
	}
}

func TestKernelRefusalIsADenial(t *testing.T) {
	a, err := shm.NewArena(shm.Config{Capacity: math.MaxInt64, SegmentBytes: segmentBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	limit := limitDescriptors(t)
	_, err = a.Lease(1, "test")
	limit()
	var denied *shm.DeniedError
	if !errors.As(err, &denied) || denied.Cause == nil || !strings.Contains(err.Error(), "the system refused") {
		t.Fatal(err)
	}
	if s := stats(t, a); s.Used != 0 {
		t.Errorf("a refused segment stays in the ledger: %+v", s)
	}
}

func TestReturnRecyclesWipedUnderANewID(t *testing.T) {
	a := newArena(t, 1)
	s := lease(t, a, 1)
	p := mapSegment(t, s)
	for i := range p.Mem {
		p.Mem[i] = 0xee // the header too
	}
	if err := a.Return(1, s.ID()); err != nil {
		t.Fatal(err)
	}
	// The client still maps it.
	if st := stats(t, a); st.OrphanSegments != 1 || st.Orphans != segmentBytes || st.Leased != 0 || st.Used != segmentBytes {
		t.Errorf("%+v", st)
	}
	if _, err := a.Lease(2, "test"); !errors.As(err, new(*shm.DeniedError)) {
		t.Fatalf("a segment that a client still maps was granted: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if left := a.Sweep(); left != 0 {
		t.Errorf("%d orphans are left", left)
	}
	if st := stats(t, a); st.WarmSegments != 1 || st.Used != segmentBytes {
		t.Errorf("%+v", st)
	}
	again := lease(t, a, 2)
	if again.ID() == s.ID() {
		t.Error("the id was used again")
	}
	for i, b := range mapSegment(t, again).Mem[shm.SegmentHeaderBytes:] {
		if b != 0 {
			t.Fatalf("byte %d of the last session is still there", i)
		}
	}
	if _, err := s.KernelBytes(); !errors.Is(err, shm.ErrClosed) {
		t.Errorf("the old grant is usable: %v", err)
	}
}

func TestReturnOfWhatIsNotOnes(t *testing.T) {
	a := newArena(t, 2)
	s := lease(t, a, 1)
	var foreign *shm.ForeignError
	if err := a.Return(2, s.ID()); !errors.As(err, &foreign) {
		t.Errorf("another session returned it: %v", err)
	}
	if err := a.Return(1, s.ID()+1); !errors.As(err, &foreign) {
		t.Errorf("an unknown segment: %v", err)
	}
	if err := a.Return(1, s.ID()); err != nil {
		t.Error(err)
	}
	if err := a.Return(1, s.ID()); !errors.As(err, &foreign) {
		t.Errorf("returned twice: %v", err)
	}
}

func TestRevokeEndsASession(t *testing.T) {
	a := newArena(t, 8)
	lease(t, a, 1)
	lease(t, a, 1)
	kept := lease(t, a, 2)
	table, err := a.NewTable(1, 16)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := shmtest.MapTable(table)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	if _, err := peer.Reserve(table.First()); err != nil {
		t.Fatal(err)
	}
	if n := a.Revoke(1); n != 3 {
		t.Errorf("revoked %d segments", n)
	}
	if n := a.Revoke(1); n != 0 {
		t.Errorf("the second revoke found %d segments", n)
	}
	if w := peer.Word(table.First()); w != shm.MakeWord(1, shm.Free, 0) {
		t.Errorf("the client sees %v", w)
	}
	// Nobody maps the data segments, the peer maps the table.
	s := stats(t, a)
	if s.LeasedSegments != 1 || s.WarmSegments != 2 || s.TableSegments != 0 || s.OrphanSegments != 1 ||
		s.Used != 3*segmentBytes+s.Orphans || s.Kernel != s.Used {
		t.Errorf("%+v", s)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	a.Sweep()
	if s := stats(t, a); s.Used != 3*segmentBytes || s.Kernel != s.Used {
		t.Errorf("%+v", s)
	}
	if l := a.Leases(); len(l) != 1 || l[0].SegmentID != kept.ID() || l[0].Owner != 2 || l[0].Bytes != segmentBytes {
		t.Errorf("%+v", l)
	}
}

func TestWarmSegments(t *testing.T) {
	a := newArena(t, 2)
	if err := a.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := stats(t, a)
	if s.WarmSegments != 2 || s.Warm != 2*segmentBytes || s.Kernel != s.Used || s.Used != s.Warm {
		t.Errorf("%+v", s)
	}
	// A table gets its room from a warm segment when nothing else is left.
	table, err := a.NewTable(1, 4)
	if err != nil {
		t.Fatal(err)
	}
	s = stats(t, a)
	if s.WarmSegments != 1 || s.Tables != table.Segment().Bytes() || s.Used != s.Warm+s.Tables {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.FillWarm(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	a := newArena(t, 4)
	lease(t, a, 9)
	if err := a.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := openDescriptors(t)
	for i := range 200 {
		s := lease(t, a, 1)
		p, err := shmtest.MapSegment(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			err = a.Return(1, s.ID())
		} else if a.Revoke(1) != 1 {
			t.Fatal("nothing was revoked")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	a.Close()
	if s := stats(t, a); s.Used != 0 || s.Kernel != 0 {
		t.Errorf("%+v", s)
	}
}

func TestClosedArena(t *testing.T) {
	a := newArena(t, 4)
	s := lease(t, a, 1)
	a.Close()
	a.Close()
	if _, err := a.Lease(1, "test"); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
	if _, err := a.NewTable(1, 1); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
	if err := a.Return(1, s.ID()); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
	if err := a.FillWarm(context.Background()); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
	if err := s.WithFD(func(int) error { return nil }); !errors.Is(err, shm.ErrClosed) {
		t.Error(err)
	}
}

// Many sessions lease and give back at once; the ledger must come out even and never exceed the capacity.
func TestArenaUnderLoad(t *testing.T) {
	a := newArena(t, 5)
	var wg sync.WaitGroup
	for owner := uint32(1); owner <= 8; owner++ {
		wg.Go(func() {
			for i := range 40 {
				s, err := a.Lease(owner, "load")
				var denied *shm.DeniedError
				if errors.As(err, &denied) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if i%5 == 0 {
					a.Revoke(owner)
				} else if err := a.Return(owner, s.ID()); err != nil {
					t.Error(err)
				}
				if st, err := a.Stats(); err != nil || st.Used > st.Capacity {
					t.Errorf("%+v, %v", st, err)
				}
			}
		})
	}
	wg.Wait()
	if s := stats(t, a); s.Leased != 0 || s.Used != s.Warm || s.Kernel != s.Used {
		t.Errorf("%+v", s)
	}
}
