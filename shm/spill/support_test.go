package spill

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// limit bounds every wait of these tests.
const limit = 20 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// open is a store in a folder of the test, which fails when anything is left over.
func open(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Directory == "" {
		c.Directory = filepath.Join(t.TempDir(), "spill")
	}
	if c.Quota == 0 {
		c.Quota = 64 << 20
	}
	if c.Daemon == 0 {
		c.Daemon = 7
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(testContext(t)); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// header stands for a schema message, and messageOf for a record batch message: the store does not look into them.
var header = bytes.Repeat([]byte{0x11}, 128)

func messageOf() []byte { return bytes.Repeat([]byte{0x22}, 64) }

// content is a batch that no other number has.
func content(number uint64, size int) []byte {
	b := make([]byte, size)
	r := rand.New(rand.NewPCG(number, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// spilled is one batch with its end.
type spilled struct {
	*Batch
	want  []byte
	ended chan error
}

func give(t testing.TB, stream *Stream, number uint64, size int) (*spilled, error) {
	t.Helper()
	x := &spilled{want: content(number, size), ended: make(chan error, 2)}
	var err error
	x.Batch, err = stream.Spill(messageOf(), bytes.Clone(x.want), func(err error) { x.ended <- err })
	return x, err
}

func mustGive(t testing.TB, stream *Stream, number uint64, size int) *spilled {
	t.Helper()
	x, err := give(t, stream, number, size)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// end is what the owner was told.
func (x *spilled) end(t testing.TB) error {
	t.Helper()
	select {
	case err := <-x.ended:
		return err
	case <-time.After(limit):
		t.Fatal("the write does not end")
		return nil
	}
}

// requireClaim reads the batch back and compares it.
func (x *spilled) requireClaim(t testing.TB) {
	t.Helper()
	loaded, err := x.Claim(testContext(t))
	if err != nil {
		t.Errorf("entry %d: %v", x.trailer.entry, err)
		return
	}
	if !bytes.Equal(loaded.Bytes, x.want) {
		t.Errorf("entry %d came back changed", x.trailer.entry)
	}
	loaded.Release()
	loaded.Release()
}

// onDisk gives n batches and waits until the disk has them.
func onDisk(t testing.TB, stream *Stream, n, size int) []*spilled {
	t.Helper()
	var all []*spilled
	for i := range n {
		x := mustGive(t, stream, uint64(i), size)
		if err := x.end(t); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// files are the data files in the store's folder.
func files(t testing.TB, s *Store) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.config.Directory, "*.arrows"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// requireEmpty sees that nothing counts and no file is left.
func requireEmpty(t testing.TB, s *Store) {
	t.Helper()
	if x := s.Stats(); x.Used != 0 || x.Files != 0 || x.Batches != 0 || x.Bytes != 0 || x.ReadHeap != 0 || len(files(t, s)) != 0 {
		t.Errorf("left over: %+v, files %v", x, files(t, s))
	}
}

// fileBytes is what the files occupy, by their sizes.
func fileBytes(t testing.TB, s *Store) (sum int64) {
	t.Helper()
	for _, path := range files(t, s) {
		info, err := os.Stat(path)
		if err == nil { // else it was deleted meanwhile
			sum += info.Size()
		}
	}
	return sum
}
