package shm

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A kernel before 6.3 knows no MFD_NOEXEC_SEAL, one before 5.14 no MADV_POPULATE_WRITE; both answer EINVAL.
func TestOldKernel(t *testing.T) {
	fd, err := memfdCreate("old", func(name string, flags int) (int, error) {
		if flags&unix.MFD_NOEXEC_SEAL != 0 {
			return -1, unix.EINVAL
		}
		return unix.MemfdCreate(name, flags)
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &mapping{fd: fd}
	defer m.close()
	const size = 256 << 10
	if err := unix.Ftruncate(fd, size); err != nil {
		t.Fatal(err)
	}
	m.mem, err = populated(fd, size, func([]byte, int) error { return unix.EINVAL })
	if err != nil {
		t.Fatal(err)
	}
	if n, err := kernelBytes(fd); err != nil || n != size || len(m.mem) != size {
		t.Errorf("the kernel holds %d of %d bytes, %v", n, size, err)
	}
}

func TestRefusedPopulateIsAnError(t *testing.T) {
	fd, err := memfdCreate("refused", unix.MemfdCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, 8192); err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []error{unix.ENOMEM, unix.EFAULT, nil} { // nil: it says yes and does nothing
		mem, err := populated(fd, 8192, func([]byte, int) error { return refusal })
		if err == nil || mem != nil || refusal != nil && !errors.Is(err, refusal) {
			t.Errorf("%v: got %d bytes, %v", refusal, len(mem), err)
		}
	}
}

// TestWithoutProcSegmentsOfTheDeadAreFreed: where the kernel cannot be asked who holds a segment, none is reused.
func TestWithoutProcSegmentsOfTheDeadAreFreed(t *testing.T) {
	a, err := NewArena(Config{Capacity: 1 << 20, SegmentBytes: 1 << 16, WarmSegments: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s, err := a.Lease(1, "test")
	if err != nil {
		t.Fatal(err)
	}
	s.m.probes = false
	if err := s.WithFD(func(fd int) error {
		if fd != s.m.fd {
			t.Error("a descriptor was reopened")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	a.Revoke(1)
	if st, err := a.Stats(); err != nil || st.Used != 0 || st.Kernel != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

type countingKeeper struct{ kept []string }

func (k *countingKeeper) Keep(name string, _ int) { k.kept = append(k.kept, name) }
func (k *countingKeeper) Forget(string)           {}

// TestWhatNobodyCanAskForIsNotKept: without /proc clients have the daemon's own open file. The next daemon, with /proc, would count one
// and take it for its own alone.
func TestWhatNobodyCanAskForIsNotKept(t *testing.T) {
	keeper := &countingKeeper{}
	a := &Arena{config: Config{Keeper: keeper}}
	without, with := &mapping{}, &mapping{probes: true}
	a.keep(without)
	a.keep(with)
	if len(keeper.kept) != 1 || with.kept != keeper.kept[0] || without.kept != "" {
		t.Errorf("kept: %q; with %q, without %q", keeper.kept, with.kept, without.kept)
	}
}
