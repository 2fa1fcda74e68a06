package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Who else holds a memfd? The kernel counts the open files of an inode, and grants a write lease (fcntl F_SETLEASE) only to its one
// open file. A map keeps its open file, so whoever has a descriptor or a map counts, also a child that inherited either. For that
// each client gets an open file of its own, made by opening the descriptor's entry below /proc.

// beOneOpenFile replaces the descriptor that memfd_create gave, which the kernel does not count, by one that it does. Where that
// is not possible, without /proc, held cannot be answered.
func (m *mapping) beOneOpenFile() {
	fd, err := reopen(m.fd)
	if err != nil {
		return
	}
	_ = unix.Close(m.fd)
	m.fd, m.probes = fd, true
	_, known := m.held()
	m.probes = known
}

func reopen(fd int) (int, error) {
	opened := -1
	err := retry(func() (err error) {
		opened, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
		return err
	})
	return opened, err
}

// held tells whether anybody but this process's own map and descriptor holds the memory; known is false where the kernel does not
// say. It takes less than a microsecond.
func (m *mapping) held() (held, known bool) {
	if !m.probes {
		return false, false
	}
	_, err := unix.FcntlInt(uintptr(m.fd), unix.F_SETLEASE, unix.F_WRLCK)
	switch {
	case err == nil:
		_, _ = unix.FcntlInt(uintptr(m.fd), unix.F_SETLEASE, unix.F_UNLCK)
		return false, true
	case errors.Is(err, unix.EAGAIN):
		return true, true
	default:
		return false, false
	}
}

// withGrant calls use with a descriptor for a client.
func (m *mapping) withGrant(use func(fd int) error) error {
	if !m.probes {
		return use(m.fd)
	}
	fd, err := reopen(m.fd)
	if err != nil {
		return fmt.Errorf("a descriptor for a client: %w", err)
	}
	defer unix.Close(fd)
	return use(fd)
}
