package doctor

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// kernel tries what the arena is made of. The daemon gets by without what only warns.
func (d *diagnosis) kernel() {
	d.memfd(unix.MemfdCreate)
	d.populate(unix.Madvise)
	d.pidfd(unix.PidfdOpen)
}

// memfd makes a file as a segment is made, and sees that its seal holds. create is unix.MemfdCreate, or an older kernel's or a
// sandbox's answer in tests.
func (d *diagnosis) memfd(create func(string, int) (int, error)) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := create("penstock-doctor", flags|unix.MFD_NOEXEC_SEAL)
	sealed := err == nil
	if errors.Is(err, unix.EINVAL) {
		fd, err = create("penstock-doctor", flags)
	}
	if err != nil {
		d.fail("kernel.memfd", "use Linux 3.17 or newer, and let the seccomp profile allow memfd_create", "memfd_create: %v", err)
		return
	}
	defer unix.Close(fd)
	err = unix.Ftruncate(fd, 8192)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil && unix.Ftruncate(fd, 4096) == nil {
		err = errors.New("a sealed file was made smaller")
	}
	if err != nil {
		d.fail("kernel.memfd", "use a Linux kernel itself; sandboxes that only imitate it may lack seals", "sealing a memfd: %v", err)
		return
	}
	d.ok("kernel.memfd", "sealed memfds work")
	if !sealed {
		d.warn("kernel.noexec", "use Linux 6.3 or newer; until then a TaskManager could make segments executable for itself",
			"MFD_NOEXEC_SEAL is not known to this kernel")
		return
	}
	d.ok("kernel.noexec", "memfds are never executable (MFD_NOEXEC_SEAL)")
}

// populate has the kernel allocate a page. madvise is unix.Madvise, or an older kernel's answer in tests.
func (d *diagnosis) populate(madvise func([]byte, int) error) {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		d.fail("kernel.populate", "look at the limits of this process (ulimit -v)", "mmap of one page: %v", err)
		return
	}
	defer unix.Munmap(page)
	if err := madvise(page, unix.MADV_POPULATE_WRITE); err != nil {
		d.warn("kernel.populate", "use Linux 5.14 or newer; until then segments are populated by MAP_POPULATE, which is as safe",
			"MADV_POPULATE_WRITE: %v", err)
		return
	}
	d.ok("kernel.populate", "segments are populated by MADV_POPULATE_WRITE")
}

func (d *diagnosis) pidfd(open func(int, int) (int, error)) {
	fd, err := open(os.Getpid(), 0)
	if err != nil {
		d.warn("kernel.pidfd", "use Linux 5.3 or newer, and let the seccomp profile allow pidfd_open; the end of a TaskManager is still "+
			"seen by its connection", "pidfd_open: %v", err)
		return
	}
	unix.Close(fd)
	d.ok("kernel.pidfd", "processes can be watched by descriptor")
}
