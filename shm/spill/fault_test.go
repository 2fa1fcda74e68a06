package spill

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A full file system is a typed error; the batch is unharmed, what was written before stays right, and the store goes on when there is room.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small tmpfs needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s := open(t, Config{Directory: dir})
	stream := s.NewStream(3, header)
	var kept []*spilled
	var failed *spilled
	for i := range uint64(20) {
		x := mustGive(t, stream, i, 150<<10)
		if err := x.end(t); err != nil {
			if !errors.Is(err, unix.ENOSPC) || !errors.As(err, new(*WriteError)) {
				t.Fatal(err)
			}
			failed = x
			break
		}
		kept = append(kept, x)
	}
	if failed == nil || len(kept) < 3 {
		t.Fatalf("%d batches fit into 1 MiB", len(kept))
	}
	if x := s.Stats(); failed.State() != Parked || x.WriteFailures != 1 || x.Used < fileBytes(t, s) || x.Batches != len(kept) {
		t.Errorf("%v, %+v, files of %d bytes", failed.State(), x, fileBytes(t, s))
	}
	if _, err := failed.Claim(testContext(t)); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a batch that the disk does not have: %v", err)
	}
	for _, x := range kept {
		x.requireClaim(t)
	}
	x := mustGive(t, stream, 99, 150<<10)
	if err := x.end(t); err != nil {
		t.Errorf("after the files are gone: %v", err)
	}
	x.requireClaim(t)
	requireEmpty(t, s)
}

// Not even the header of a file fits.
func TestFullDiskAtTheFirstByte(t *testing.T) {
	s := open(t, Config{})
	s.disk.writev = func(int, [][]byte, int64) (int, error) { return 0, unix.ENOSPC }
	x := mustGive(t, s.NewStream(3, header), 1, 100)
	if err := x.end(t); !errors.Is(err, unix.ENOSPC) || x.State() != Parked {
		t.Errorf("%v, %v", err, x.State())
	}
	requireEmpty(t, s)
}

// A write that fails in the middle leaves the file as it was.
func TestWriteFailsInTheMiddle(t *testing.T) {
	s := open(t, Config{})
	var fail atomic.Bool
	s.disk.writev = func(fd int, parts [][]byte, at int64) (int, error) {
		if !fail.Load() {
			// Short writes are no failure.
			return unix.Pwritev(fd, [][]byte{parts[0][:min(len(parts[0]), 1000)]}, at)
		}
		if len(parts) > 1 {
			return unix.Pwritev(fd, parts[:1], at)
		}
		return 0, unix.EIO
	}
	stream := s.NewStream(3, header)
	first := mustGive(t, stream, 1, 5000)
	if err := first.end(t); err != nil {
		t.Fatal(err)
	}
	fail.Store(true)
	x := mustGive(t, stream, 2, 5000)
	if err := x.end(t); !errors.Is(err, unix.EIO) || x.State() != Parked {
		t.Errorf("%v, %v", err, x.State())
	}
	fail.Store(false)
	if got := fileBytes(t, s); got != first.offset+first.Bytes() {
		t.Errorf("the file has %d bytes, want %d", got, first.offset+first.Bytes())
	}
	again := mustGive(t, stream, 3, 100)
	if err := again.end(t); err != nil || again.file != first.file {
		t.Errorf("%v", err)
	}
	again.requireClaim(t)
	first.requireClaim(t)
	requireEmpty(t, s)
}

// The disk takes the bytes and then says that it does not have them: the batches of that file are PARKED again, those before are right.
func TestDiskRefusesAtLast(t *testing.T) {
	s := open(t, Config{})
	stream := s.NewStream(3, header)
	before := onDisk(t, stream, 1, 5000)[0]
	s.disk.sync = func(int) error { return unix.EIO }
	x := mustGive(t, stream, 2, 5000)
	if err := x.end(t); !errors.Is(err, unix.EIO) || x.State() != Parked {
		t.Errorf("%v, %v", err, x.State())
	}
	s.disk.sync = unix.Fdatasync
	after := mustGive(t, stream, 3, 5000)
	if err := after.end(t); err != nil || after.file == before.file {
		t.Errorf("%v; in the file that was refused: %v", err, after.file == before.file)
	}
	before.requireClaim(t)
	after.requireClaim(t)
	requireEmpty(t, s)
	if got := s.Stats().WriteFailures; got != 1 {
		t.Errorf("%d failures", got)
	}
}

// Memory that a client took away is an error, not the end of the process.
func TestMemoryIsGone(t *testing.T) {
	s := open(t, Config{})
	path := filepath.Join(t.TempDir(), "memory")
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := unix.Mmap(int(file.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	if err := file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	b, err := s.NewStream(3, header).Spill(messageOf(), memory, func(err error) { ended <- err })
	if err != nil {
		t.Fatal(err)
	}
	x := &spilled{Batch: b, ended: ended}
	if err := x.end(t); !errors.As(err, new(*WriteError)) || x.State() != Parked {
		t.Errorf("%v, %v", err, x.State())
	}
	requireEmpty(t, s)
}

// entrySize is the size of the entries of three.
const entrySize = 64 + 128 + TrailerBytes

// three are small batches in one file, and the file's text.
func three(t *testing.T, s *Store) ([]*spilled, []byte) {
	t.Helper()
	all := onDisk(t, s.NewStream(3, header), 3, 100)
	text, err := os.ReadFile(all[0].file.path)
	if err != nil || len(text) != len(header)+3*entrySize {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	return all, text
}

// replace writes text over the batch's file.
func (x *spilled) replace(t *testing.T, text []byte) {
	t.Helper()
	if err := os.WriteFile(x.file.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// One flipped bit, in every byte of the file: whatever is a part of the batch's entry is found, whatever is not does no harm.
func TestEveryFlippedBitIsFound(t *testing.T) {
	s := open(t, Config{})
	all, text := three(t, s)
	first, end := len(header)+entrySize, len(header)+2*entrySize
	buffer := make([]byte, entrySize)
	for at := range text {
		bit := byte(1) << (at % 8)
		all[1].poke(t, at, text[at]^bit)
		err := all[1].read(buffer)
		if inside := at >= first && at < end; inside != errors.As(err, new(*CorruptError)) || !inside && err != nil {
			t.Fatalf("byte %d of %d to %d, bit %#x: %v", at, first, end, bit, err)
		}
		if err == nil && !bytes.Equal(buffer[64:164], all[1].want) {
			t.Fatalf("byte %d: wrong bytes", at)
		}
		all[1].poke(t, at, text[at])
	}
	all[1].poke(t, first+70, ^text[first+70])
	if _, err := all[1].Claim(testContext(t)); !errors.As(err, new(*CorruptError)) || all[1].State() != Gone {
		t.Errorf("%v, %v", err, all[1].State())
	}
	all[0].requireClaim(t)
	all[2].requireClaim(t)
	requireEmpty(t, s)
	if got := s.Stats().ReadFailures; got != 1 {
		t.Errorf("%d read failures", got)
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	s := open(t, Config{})
	all, text := three(t, s)
	for length := len(text) - 1; length >= 0; length-- {
		if err := all[2].file.handle.Truncate(int64(length)); err != nil {
			t.Fatal(err)
		}
		if err := all[2].read(make([]byte, entrySize)); !errors.As(err, new(*CorruptError)) {
			t.Fatalf("cut to %d bytes: %v", length, err)
		}
	}
	if loaded, err := all[2].Claim(testContext(t)); !errors.As(err, new(*CorruptError)) || loaded != nil {
		t.Errorf("%v", err)
	}
	all[0].Drop()
	all[1].Drop()
	requireEmpty(t, s)
}

// poke changes one byte of the batch's file.
func (x *spilled) poke(t *testing.T, at int, to byte) {
	t.Helper()
	if _, err := x.file.handle.WriteAt([]byte{to}, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// An entry that is whole and another's: of another batch, of another daemon.
func TestForeignEntriesAreFound(t *testing.T) {
	s, other := open(t, Config{}), open(t, Config{Daemon: 8})
	all, text := three(t, s)
	foreigners, foreign := three(t, other)
	swapped := append(bytes.Clone(text[:len(header)+entrySize]), text[len(header):]...)
	for name, text := range map[string][]byte{"another batch": swapped, "another daemon": foreign} {
		all[1].replace(t, text)
		if err := all[1].read(make([]byte, entrySize)); !errors.As(err, new(*CorruptError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, x := range append(all, foreigners...) {
		x.Drop()
	}
	requireEmpty(t, s)
}

// What the kernel refuses to read is no checksum's matter.
func TestUnreadableFile(t *testing.T) {
	s := open(t, Config{})
	stream := s.NewStream(3, header)
	x := onDisk(t, stream, 1, 100)[0]
	broken, err := os.Open("/proc/self/mem") // reading at 0 is EIO
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	own := x.file.handle
	x.file.handle, x.offset = broken, 0
	_, err = x.Claim(testContext(t))
	var read *ReadError
	if !errors.As(err, &read) || !errors.Is(err, unix.EIO) || x.State() != Gone {
		t.Errorf("%v, %v", err, x.State())
	}
	own.Close()
	requireEmpty(t, s)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{(&WriteError{"f", unix.ENOSPC}).Error(), "spill: writing f: no space left on device; free the disk or lower spill.quota"},
		{(&CorruptError{"f", 3, "x"}).Error(), "spill: batch 3 of f is damaged: x; its epoch fails and is replayed; see to the disk"},
		{fmt.Sprint(&IllegalMoveError{Gone, Claim}), `a spilled batch that is GONE does not take the move "claim"`},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
