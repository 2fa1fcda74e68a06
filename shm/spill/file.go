package spill

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// endBytes is the room of the end of the stream.
const endBytes = Align

// endOfStream is Arrow's: an empty message.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// file is one file of a stream.
type file struct {
	path   string
	stream *Stream
	handle *os.File
	// size is where the next entry goes; the goroutine that writes owns it.
	size int64

	// Guarded by Store.mu: one for each batch that lives in it, and one while it is the stream's active file; at 0 it is deleted.
	refs int
	// charged is what it takes of the quota, in bytes; live is the part of it that is batches on the disk.
	charged, live int64
	batches       int
}

// createFile makes a file of t with its header. After an error nothing is left behind.
func (s *Store) createFile(path string, t *Stream) (*file, error) {
	handle, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := s.disk.writeAll(handle, [][]byte{t.header}, 0); err != nil {
		return nil, errors.Join(err, handle.Close(), os.Remove(path))
	}
	size := int64(len(t.header))
	return &file{path: path, stream: t, handle: handle, size: size, refs: 1, charged: size + endBytes}, nil
}

// append writes one entry; after an error the file is as before. It does not wait for the disk.
func (f *file) append(d *disk, parts [][]byte, bytes int64) error {
	if err := d.writeAll(f.handle, parts, f.size); err != nil {
		// What was written of the entry gives its blocks back; the file's size is what counts.
		return errors.Join(err, f.handle.Truncate(f.size))
	}
	f.size += bytes
	return nil
}

// end seals the file: what follows would be no part of the stream any more.
func (f *file) end(d *disk) error {
	return d.writeAll(f.handle, [][]byte{endOfStream}, f.size)
}

// remove closes and deletes the file.
func (f *file) remove() error {
	_ = f.handle.Close() // reading is over, and what was written has been proven by then
	if err := os.Remove(f.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
