package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// seals are set at birth. Without SHRINK a client could truncate the file, and the daemon's next read would be a SIGBUS
// that kills it; without SEAL a client could add FUTURE_WRITE, and nobody could map the segment for writing any more.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// mapping is one populated, sealed memfd and the daemon's map of it.
type mapping struct {
	fd  int
	mem []byte
	// probes says that held can be answered.
	probes bool
	// kept is the name under which Config.Keeper has the descriptor, too; empty when it has not.
	kept string
	// process is the one that it was last granted to; see Arena.Own.
	process string
}

// createMapping makes a memfd of size bytes, a multiple of the page size. All its pages exist when it returns: the first
// store to a page that the memory cgroup refuses kills the process that stores, without an error.
func createMapping(name string, size int64) (_ *mapping, err error) {
	fd, err := memfdCreate(name, unix.MemfdCreate)
	if err != nil {
		return nil, err
	}
	m := &mapping{fd: fd}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	// The default mode lets any process that sees the descriptor's entry below /proc open it once more.
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return nil, fmt.Errorf("fchmod of memfd %s: %w", name, err)
	}
	if err := retry(func() error { return unix.Ftruncate(fd, size) }); err != nil {
		return nil, fmt.Errorf("ftruncate of memfd %s to %d bytes: %w", name, size, err)
	}
	if m.mem, err = populated(fd, size, unix.Madvise); err != nil {
		return nil, fmt.Errorf("memfd %s: %w", name, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, fmt.Errorf("seal memfd %s: %w", name, err)
	}
	m.beOneOpenFile()
	return m, nil
}

// memfdCreate asks for a memfd that can never be executed; kernels before 6.3 do not know that flag and answer EINVAL. create
// is unix.MemfdCreate, or an older kernel's answer in tests.
func memfdCreate(name string, create func(string, int) (int, error)) (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := create(name, flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		fd, err = create(name, flags)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create of %s: %w", name, err)
	}
	return fd, nil
}

// populated maps the file and has the kernel allocate every page. madvise is unix.Madvise, or an older kernel's answer in
// tests.
func populated(fd int, size int64, madvise func([]byte, int) error) ([]byte, error) {
	mem, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	err = retry(func() error { return madvise(mem, unix.MADV_POPULATE_WRITE) })
	if errors.Is(err, unix.EINVAL) { // kernels before 5.14
		if err := unix.Munmap(mem); err != nil {
			return nil, fmt.Errorf("munmap: %w", err)
		}
		mem, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	if err == nil {
		// MAP_POPULATE does not say when it fell short; the file's block count does.
		var got int64
		if got, err = kernelBytes(fd); err == nil && got < size {
			err = unix.ENOMEM
		}
	}
	if err != nil {
		if mem != nil {
			_ = unix.Munmap(mem)
		}
		return nil, fmt.Errorf("populate %d bytes: %w", size, err)
	}
	return mem, nil
}

// kernelBytes is how much memory the kernel holds for the file, in bytes.
func kernelBytes(fd int) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("fstat of a memfd: %w", err)
	}
	return st.Blocks * 512, nil
}

// retry repeats a system call that a signal interrupted; the Go runtime sends itself many.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// close unmaps and closes; the pages live on while a client maps them.
func (m *mapping) close() {
	if m.mem != nil {
		_ = unix.Munmap(m.mem)
	}
	_ = unix.Close(m.fd)
}
