package shm_test

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
	"penstock.dev/penstock/shm"
)

// withFD leases a segment and gives its descriptor to a test that plays a client.
func withFD(t *testing.T, test func(fd int)) *shm.Segment {
	t.Helper()
	s := lease(t, newArena(t, 4), 1)
	if err := s.WithFD(func(fd int) error { test(fd); return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClientCannotResize(t *testing.T) {
	s := withFD(t, func(fd int) {
		for _, size := range []int64{0, segmentBytes / 2, segmentBytes * 2} {
			if err := unix.Ftruncate(fd, size); !errors.Is(err, unix.EPERM) {
				t.Errorf("ftruncate to %d: %v", size, err)
			}
		}
		if err := unix.Fallocate(fd, 0, 0, segmentBytes*2); !errors.Is(err, unix.EPERM) {
			t.Errorf("fallocate beyond the end: %v", err)
		}
		if _, err := unix.Pwrite(fd, []byte{1}, segmentBytes); err == nil {
			t.Error("wrote beyond the end")
		}
		// Punching a hole is the one thing that a holder of the descriptor may do (memory.md M6): pages read as zero, but
		// the size stays and no signal comes.
		err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, segmentBytes)
		var st unix.Stat_t
		if serr := unix.Fstat(fd, &st); serr != nil || st.Size != segmentBytes {
			t.Errorf("after punching (%v) the size is %d, %v", err, st.Size, serr)
		}
	})
	if s.Bytes() != segmentBytes {
		t.Error(s.Bytes())
	}
}

func TestClientCannotAddSeals(t *testing.T) {
	withFD(t, func(fd int) {
		for _, seal := range []int{unix.F_SEAL_WRITE, unix.F_SEAL_FUTURE_WRITE, unix.F_SEAL_SHRINK} {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seal); !errors.Is(err, unix.EPERM) {
				t.Errorf("seal %#x: %v", seal, err)
			}
		}
		got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
		if want := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL; err != nil || got&want != want {
			t.Errorf("seals are %#x, %v", got, err)
		}
	})
}

func TestModeAndCloseOnExec(t *testing.T) {
	withFD(t, func(fd int) {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Mode&0o7777 != 0o600 {
			t.Errorf("mode %o, %v", st.Mode&0o7777, err)
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor flags %#x, %v", flags, err)
		}
	})
}

func TestPopulatedBeforeTheGrant(t *testing.T) {
	s := lease(t, newArena(t, 4), 1)
	if n, err := s.KernelBytes(); err != nil || n != segmentBytes {
		t.Errorf("the kernel holds %d of %d bytes, %v", n, segmentBytes, err)
	}
}
