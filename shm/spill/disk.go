package spill

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// disk is the two calls whose failures tests order; everything else a real small file system can refuse.
type disk struct {
	writev func(fd int, parts [][]byte, at int64) (int, error)
	sync   func(fd int) error
}

var kernel = disk{writev: unix.Pwritev, sync: unix.Fdatasync}

// writeAll writes parts one after the other at an offset of the file.
func (d *disk) writeAll(file *os.File, parts [][]byte, at int64) error {
	for len(parts) > 0 {
		n, err := d.writev(int(file.Fd()), parts, at)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("nothing was written at %d", at)
		}
		at += int64(n)
		parts = rest(parts, n)
	}
	return nil
}

// rest is what is left of parts after n bytes.
func rest(parts [][]byte, n int) [][]byte {
	for len(parts) > 0 && n >= len(parts[0]) {
		n -= len(parts[0])
		parts = parts[1:]
	}
	if n > 0 {
		parts = append([][]byte{parts[0][n:]}, parts[1:]...)
	}
	return parts
}

// flush waits until the disk has the file.
func (d *disk) flush(file *os.File) error {
	for {
		if err := d.sync(int(file.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// checksum reads memory that a client may have taken away; such a fault is an error here and would end the process elsewhere.
func checksum(parts ...[]byte) (crc uint32, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the batch's memory is gone: %v", fault)
		}
	}()
	for _, part := range parts {
		crc = crc32.Update(crc, castagnoli, part)
	}
	return crc, nil
}
