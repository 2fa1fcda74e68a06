package shm_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// A segment comes back for reuse only when nobody can touch it any more, whatever a client does to keep it.
func TestASegmentThatIsHeldIsAnOrphan(t *testing.T) {
	for name, hold := range map[string]func(t *testing.T, s *shm.Segment) (letGo func()){
		"a writable map": func(t *testing.T, s *shm.Segment) func() {
			p := mapSegment(t, s)
			return func() { _ = p.Close() }
		},
		"a descriptor": func(t *testing.T, s *shm.Segment) func() {
			fd := duplicate(t, s)
			return func() { _ = unix.Close(fd) }
		},
		"a read-only map of the descriptor's entry": func(t *testing.T, s *shm.Segment) func() {
			fd := duplicate(t, s)
			defer unix.Close(fd)
			entry, err := os.Open(shmtest.Entry(fd))
			if err != nil {
				t.Fatal(err)
			}
			defer entry.Close()
			mem, err := unix.Mmap(int(entry.Fd()), 0, int(s.Bytes()), unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = unix.Munmap(mem) }
		},
		"a child that inherited the descriptor": func(t *testing.T, s *shm.Segment) func() {
			file := os.NewFile(uintptr(duplicate(t, s)), "segment")
			child := exec.Command("sleep", "60")
			child.ExtraFiles = []*os.File{file}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			_ = file.Close()
			return func() {
				_ = child.Process.Kill()
				_ = child.Wait()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for way, end := range map[string]func(a *shm.Arena, id uint32){
				"return": func(a *shm.Arena, id uint32) { _ = a.Return(1, id) },
				"revoke": func(a *shm.Arena, _ uint32) { a.Revoke(1) },
			} {
				a := newArena(t, 2)
				s := lease(t, a, 1)
				letGo := hold(t, s)
				end(a, s.ID())
				if st := stats(t, a); a.Sweep() != 1 || st.Orphans != segmentBytes || st.WarmSegments != 0 || st.Kernel != st.Used {
					t.Errorf("%s while it is held: %+v", way, st)
				}
				letGo()
				if st := stats(t, a); a.Sweep() != 0 || st.Orphans != segmentBytes {
					t.Errorf("%s, let go: %+v", way, st)
				}
				if st := stats(t, a); st.Orphans != 0 || st.WarmSegments != 1 || st.Kernel != st.Used {
					t.Errorf("%s, swept: %+v", way, st)
				}
			}
		})
	}
}

// TestAnOrphanIsOfTheProcessItWasGrantedTo, also when its session has ended, and when another process had the segment before.
func TestAnOrphanIsOfTheProcessItWasGrantedTo(t *testing.T) {
	a := newArena(t, 4)
	require := func(moment string, p, q int64) {
		t.Helper()
		if gotP, gotQ := a.OrphanBytes("p"), a.OrphanBytes("q"); gotP != p || gotQ != q {
			t.Errorf("%s: %d bytes of p and %d of q, want %d and %d", moment, gotP, gotQ, p, q)
		}
	}
	a.Own(1, "p")
	a.Own(2, "p")
	a.Own(3, "q")
	held := mapSegment(t, lease(t, a, 1))
	second := lease(t, a, 2)
	alsoHeld := mapSegment(t, second)
	require("leased", 0, 0)
	a.Revoke(1)
	if err := a.Return(2, second.ID()); err != nil {
		t.Fatal(err)
	}
	require("over", 2*segmentBytes, 0)
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	a.Sweep()
	require("one let go", segmentBytes, 0)
	if st := stats(t, a); st.WarmSegments != 1 {
		t.Fatalf("%+v", st)
	}
	again := mapSegment(t, lease(t, a, 3))
	a.Revoke(3)
	require("granted to another", segmentBytes, segmentBytes)
	for _, m := range []*shmtest.Segment{again, alsoHeld} {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a.Sweep()
	require("all let go", 0, 0)
}

// duplicate is a client's descriptor of the segment.
func duplicate(t *testing.T, s *shm.Segment) (fd int) {
	t.Helper()
	if err := s.WithFD(func(granted int) (err error) {
		fd, err = unix.FcntlInt(uintptr(granted), unix.F_DUPFD_CLOEXEC, 0)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestRecyclingIsTrimmed: of many segments that come back at once the warm pool keeps its mark.
func TestRecyclingIsTrimmed(t *testing.T) {
	a := newArena(t, 8)
	for range 6 {
		lease(t, a, 1)
	}
	a.Revoke(1)
	if st := stats(t, a); st.WarmSegments != 2 || st.Used != 2*segmentBytes || st.Kernel != st.Used {
		t.Errorf("%+v", st)
	}
}

// TestASegmentNeverShrinks: whoever maps it finds all its bytes at every moment, to the end of the arena and beyond.
func TestASegmentNeverShrinks(t *testing.T) {
	a := newArena(t, 4)
	s := lease(t, a, 1)
	fd := duplicate(t, s)
	defer unix.Close(fd)
	for i, step := range []func(){
		func() {}, func() { _ = a.FillWarm(context.Background()) }, func() { _ = a.Return(1, s.ID()) }, func() { a.Sweep() }, a.Close,
	} {
		step()
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Size != segmentBytes || st.Blocks*512 < segmentBytes {
			t.Errorf("step %d: %d bytes, %d blocks, %v", i, st.Size, st.Blocks, err)
		}
	}
}

// TestAHoleIsSeen: a client can take pages away from its own segment, and only the kernel knows.
func TestAHoleIsSeen(t *testing.T) {
	a := newArena(t, 2)
	fd := duplicate(t, lease(t, a, 1))
	if err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 8192, 4096); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, a); st.Used-st.Changing-st.Kernel != 4096 {
		t.Errorf("%+v", st)
	}
	if l := a.Leases(); l[0].Kernel != l[0].Bytes-4096 {
		t.Errorf("%+v", l)
	}
	// To fill the hole by touching it could kill the daemon at its memory limit: it is not used again.
	unix.Close(fd)
	a.Revoke(1)
	if st := stats(t, a); st.Used != 0 || st.Kernel != 0 {
		t.Errorf("%+v", st)
	}
}
