package shm

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// RefusedError says why a descriptor was not adopted.
type RefusedError struct {
	Name   string
	Reason string
}

// Error names the segment and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("segment %q is not adopted: %s", e.Name, e.Reason)
}

// Adopt takes over a data segment of an earlier daemon, which a keeper had under this name. The memory counts from this moment on:
// while a client of the old life holds it, it is an orphan; after that it is wiped, and warm as far as the pool has room.
// Nothing in it is read: it has rows and handles of sessions that are over, and an arena id that is not ours.
//
// The descriptor is foreign input, and the arena's from now on: what does not pass is closed, and the keeper forgets it.
// Errors: *RefusedError, ErrClosed.
func (a *Arena) Adopt(name string, fd int) error {
	m := &mapping{fd: fd, kept: name, probes: true}
	err := a.examine(m)
	if err == nil {
		err = a.enter(m)
	}
	if err != nil {
		m.close()
		a.forget(m)
		if errors.Is(err, ErrClosed) {
			return err
		}
		return &RefusedError{name, err.Error()}
	}
	a.retire(m)
	return nil
}

// examine checks that the descriptor is a data segment as createMapping and beOneOpenFile leave it, and maps it.
func (a *Arena) examine(m *mapping) (err error) {
	var st unix.Stat_t
	if err := unix.Fstat(m.fd, &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	for _, check := range []func(int, *unix.Stat_t) error{checkMemfd, checkSeals, checkOwner, a.checkSize} {
		if err := check(m.fd, &st); err != nil {
			return err
		}
	}
	if err := m.checkCounted(); err != nil {
		return err
	}
	m.mem, err = unix.Mmap(m.fd, 0, int(a.config.SegmentBytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of %d bytes: %w", a.config.SegmentBytes, err)
	}
	return nil
}

// checkMemfd: the name alone could be that of a file in the root folder, hence the file system's number.
func checkMemfd(fd int, st *unix.Stat_t) error {
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || !strings.HasPrefix(link, "/memfd:"+dataFile) {
		return fmt.Errorf("it is %q, no memory file of ours", link)
	}
	var fs unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &fs) }); err != nil {
		return fmt.Errorf("fstatfs: %w", err)
	}
	if fs.Type != unix.TMPFS_MAGIC {
		return fmt.Errorf("it is %q on a file system of type %#x, no memory file", link, fs.Type)
	}
	return nil
}

// checkSeals: without ours somebody could truncate it under the daemon; with more, nobody could map it for writing.
func checkSeals(fd int, _ *unix.Stat_t) error {
	// Kernels since 6.3 set the seal on the mode with MFD_NOEXEC_SEAL.
	const besides = unix.F_SEAL_EXEC
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return fmt.Errorf("it has no seals: %w", err)
	}
	if got&^besides != seals {
		return fmt.Errorf("its seals are %#x instead of %#x: its size is not certain", got, seals)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return fmt.Errorf("it is not open for reading and writing (flags %#x, %v)", flags, err)
	}
	return nil
}

func checkOwner(_ int, st *unix.Stat_t) error {
	if uid := os.Geteuid(); st.Uid != uint32(uid) || st.Mode&0o777 != 0o600 {
		return fmt.Errorf("it belongs to user %d with mode %#o; a segment belongs to the daemon's user %d with mode 0600",
			st.Uid, st.Mode&0o777, uid)
	}
	return nil
}

// checkSize: to touch a page that is not there could kill the daemon at its memory limit.
func (a *Arena) checkSize(_ int, st *unix.Stat_t) error {
	if st.Size != a.config.SegmentBytes {
		return fmt.Errorf("it has %d bytes and a segment has %d now", st.Size, a.config.SegmentBytes)
	}
	if there := st.Blocks * 512; there < st.Size {
		return fmt.Errorf("%d of its %d bytes are holes", st.Size-there, st.Size)
	}
	return nil
}

// checkCounted makes sure that held tells the truth. It asks first, which takes away the lease that a daemon left which died
// while it asked: whoever opens the memory below would wait for that one.
func (m *mapping) checkCounted() error {
	held, known := m.held()
	if !known {
		return errors.New("the kernel does not say who else holds it")
	}
	if !held {
		return nil
	}
	// What memfd_create gives is not counted: beside it any other open file looks like the only one, and it looks held for ever.
	fd, err := reopen(m.fd)
	if err != nil {
		return fmt.Errorf("open it anew: %w", err)
	}
	another := mapping{fd: fd, probes: true}
	defer another.close()
	if held, _ := another.held(); !held {
		return errors.New("the kernel does not count its descriptor, so nobody could say who else holds it")
	}
	return nil
}

// enter puts m into the books.
func (a *Arena) enter(m *mapping) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ErrClosed
	}
	for other := range a.live {
		same, err := sameFile(other.fd, m.fd)
		if err != nil {
			return err
		}
		if same {
			return errors.New("its memory is in the arena already")
		}
	}
	if size := int64(len(m.mem)); size > a.config.Capacity-a.used {
		return fmt.Errorf("the arena is full: %d of %d bytes are used", a.used, a.config.Capacity)
	}
	a.used += int64(len(m.mem))
	a.live[m] = struct{}{}
	return nil
}

func sameFile(x, y int) (bool, error) {
	var a, b unix.Stat_t
	if err := errors.Join(unix.Fstat(x, &a), unix.Fstat(y, &b)); err != nil {
		return false, fmt.Errorf("fstat: %w", err)
	}
	return a.Dev == b.Dev && a.Ino == b.Ino, nil
}
