package spill

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestBatchesComeBackInManyFiles(t *testing.T) {
	s := open(t, Config{FileBytes: 64 << 10})
	stream := s.NewStream(3, header)
	sizes := []int{64, 1, 63, 65, 20 << 10, 100 << 10, 4096}
	var all []*spilled
	for i := range 40 {
		all = append(all, mustGive(t, stream, uint64(i), sizes[i%len(sizes)]))
	}
	for _, x := range all {
		if err := x.end(t); err != nil || x.State() != OnDisk {
			t.Fatalf("%v, %v", x.State(), err)
		}
	}
	before := s.Stats()
	if before.Files < 5 || before.Batches != 40 || before.BatchesWritten != 40 || before.Bytes == 0 ||
		before.Used < fileBytes(t, s) || before.Used > fileBytes(t, s)+int64(before.Files)*endBytes {
		t.Errorf("%+v, the files have %d bytes", before, fileBytes(t, s))
	}
	var info FileInfo
	for _, f := range s.Files() {
		info.Bytes += f.Bytes
		info.Live += f.Live
		info.Batches += f.Batches
		if f.Owner != 3 || f.Name == "" {
			t.Errorf("%+v", f)
		}
	}
	if info.Bytes != before.Used || info.Live != before.Bytes || info.Batches != before.Batches {
		t.Errorf("the files are %+v, the store %+v", info, before)
	}
	for _, path := range files(t, s)[:2] {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || info.Size()%8 != 0 {
			t.Errorf("%v, %v", info, err)
		}
	}
	for i, x := range all {
		x.requireClaim(t)
		if i == len(all)/2 && s.Stats().Files >= before.Files {
			t.Errorf("no file was deleted after half of the batches: %+v", s.Stats())
		}
	}
	stream.Close()
	requireEmpty(t, s)
	if x := s.Stats(); x.BatchesRead != 40 || x.BytesRead != x.BytesWritten || x.WriteFailures != 0 {
		t.Errorf("%+v", x)
	}
}

// A full file has its end, and the file is deleted only with its last batch.
func TestFilesAreSealedAndCounted(t *testing.T) {
	s := open(t, Config{FileBytes: 4096})
	stream := s.NewStream(3, header)
	all := onDisk(t, stream, 3, 2000)
	if len(files(t, s)) != 3 {
		t.Fatalf("%v", files(t, s))
	}
	text, err := os.ReadFile(all[0].file.path)
	if err != nil || !bytes.HasPrefix(text, header) || !bytes.HasSuffix(text, endOfStream) {
		t.Errorf("the first file does not begin with the header or is not sealed: %v", err)
	}
	two := s.NewStream(3, header)
	s.config.FileBytes = 1 << 20
	pair := onDisk(t, two, 2, 100)
	if pair[0].file != pair[1].file {
		t.Fatal("two files")
	}
	two.Close()
	pair[1].requireClaim(t)
	if _, err := os.Stat(pair[0].file.path); err != nil {
		t.Errorf("deleted too early: %v", err)
	}
	pair[0].Drop()
	if _, err := os.Stat(pair[0].file.path); !os.IsNotExist(err) {
		t.Errorf("not deleted: %v", err)
	}
	for _, x := range all {
		x.Drop()
		x.Drop()
	}
	requireEmpty(t, s)
}

func TestBatchIsClaimedOnce(t *testing.T) {
	s := open(t, Config{})
	x := onDisk(t, s.NewStream(3, header), 1, 100)[0]
	x.requireClaim(t)
	if _, err := x.Claim(testContext(t)); !errors.As(err, new(*IllegalMoveError)) {
		t.Errorf("claimed twice: %v", err)
	}
	x.Drop()
	requireEmpty(t, s)
}

func TestLimitsAreTypedErrors(t *testing.T) {
	s := open(t, Config{Quota: 1 << 20})
	stream := s.NewStream(3, header)
	all := onDisk(t, stream, 3, 300<<10)
	var quota *QuotaError
	if _, err := give(t, stream, 9, 300<<10); !errors.As(err, &quota) || quota.Quota != 1<<20 || quota.Used != s.Stats().Used ||
		!strings.Contains(err.Error(), "spill.quota = 1048576") {
		t.Errorf("%v", err)
	}
	if x := s.Stats(); x.Refused != 1 || x.Used > x.Quota {
		t.Errorf("%+v", x)
	}
	all[0].requireClaim(t)
	all[1].requireClaim(t)
	all[2].requireClaim(t)
	requireEmpty(t, s)
	if err := mustGive(t, stream, 10, 300<<10).end(t); err != nil {
		t.Errorf("after the files are gone: %v", err)
	}
	var large *TooLargeError
	if _, err := give(t, stream, 11, ReadBytes); !errors.As(err, &large) {
		t.Errorf("%v", err)
	}
	stream.Close()
	if _, err := give(t, stream, 12, 10); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	for _, c := range []Config{{Directory: t.TempDir(), Quota: 1}, {Directory: "/proc/none/spill", Quota: 1 << 20}} {
		if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "spill.") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// held is a disk whose writes wait for release; entered is closed when one does.
func held(s *Store) (entered <-chan struct{}, release func()) {
	gate, seen := make(chan struct{}), make(chan struct{})
	var first, once sync.Once
	writev := s.disk.writev
	s.disk.writev = func(fd int, parts [][]byte, at int64) (int, error) {
		first.Do(func() { close(seen) })
		<-gate
		return writev(fd, parts, at)
	}
	return seen, func() { once.Do(func() { close(gate) }) }
}

func TestQueueIsBounded(t *testing.T) {
	s := open(t, Config{})
	entered, release := held(s)
	defer release()
	stream := s.NewStream(3, header)
	all := []*spilled{mustGive(t, stream, 0, 10)}
	<-entered
	for {
		x, err := give(t, stream, uint64(len(all)), 10)
		if errors.Is(err, ErrBusy) {
			break
		}
		if all = append(all, x); len(all) > 3*queueBatches {
			t.Fatalf("%d batches were taken", len(all))
		}
	}
	release()
	for _, x := range all {
		if err := x.end(t); err != nil {
			t.Error(err)
		}
		x.requireClaim(t)
	}
	requireEmpty(t, s)
}

// A free or an abort that comes during the write is deferred until the write ends.
func TestDropDuringTheWriteIsDeferred(t *testing.T) {
	s := open(t, Config{})
	entered, release := held(s)
	defer release()
	stream := s.NewStream(3, header)
	x, kept := mustGive(t, stream, 1, 5000), mustGive(t, stream, 2, 5000)
	<-entered
	x.Drop()
	stream.Close()
	if x.State() != Doomed || s.Stats().Used == 0 {
		t.Errorf("%v, %+v", x.State(), s.Stats())
	}
	select {
	case err := <-x.ended:
		t.Fatalf("told %v while the disk still reads the batch", err)
	case <-time.After(20 * time.Millisecond):
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := kept.Claim(ctx); !errors.Is(err, context.DeadlineExceeded) || kept.State() != Spilling {
		t.Errorf("a claim during the write: %v, %v", err, kept.State())
	}
	release()
	if err := x.end(t); !errors.Is(err, ErrDropped) || x.State() != Gone {
		t.Errorf("%v, %v", err, x.State())
	}
	if _, err := x.Claim(testContext(t)); !errors.Is(err, ErrDropped) {
		t.Errorf("%v", err)
	}
	if err := kept.end(t); err != nil {
		t.Errorf("%v", err)
	}
	kept.requireClaim(t)
	requireEmpty(t, s)
}

func TestCloseEndsWhatWaits(t *testing.T) {
	s := open(t, Config{})
	entered, release := held(s)
	x := mustGive(t, s.NewStream(3, header), 1, 100)
	y := mustGive(t, s.NewStream(3, header), 2, 100)
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	release()
	if err := s.Close(testContext(t)); err != nil {
		t.Error(err)
	}
	if x, y := x.end(t), y.end(t); x != nil || !errors.Is(y, ErrClosed) {
		t.Errorf("%v, %v", x, y)
	}
	if _, err := x.Claim(testContext(t)); !errors.As(err, new(*ReadError)) {
		t.Errorf("a batch of a closed store: %v", err)
	}
	if left, err := os.ReadDir(s.config.Directory); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// What a reader needs is bounded for all together.
func TestReadHeapIsBounded(t *testing.T) {
	s := open(t, Config{})
	stream := s.NewStream(3, header)
	all := onDisk(t, stream, 12, 1800<<10) // 2 MiB each
	var loaded []*Loaded
	for _, x := range all[:4] {
		l, err := x.Claim(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		loaded = append(loaded, l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := all[4].Claim(ctx); !errors.Is(err, context.DeadlineExceeded) || all[4].State() != OnDisk {
		t.Errorf("a fifth read of 2 MiB: %v, %v", err, all[4].State())
	}
	for _, l := range loaded {
		l.Release()
	}
	var wg sync.WaitGroup
	for _, x := range all[4:] {
		wg.Go(func() { x.requireClaim(t) })
	}
	wg.Wait()
	requireEmpty(t, s)
}

// Random histories of several writers against a model: what is claimed is right, and neither the quota nor the files go beyond their bounds.
func TestRandomHistories(t *testing.T) {
	s := open(t, Config{Quota: 2 << 20, FileBytes: 100 << 10})
	stop := make(chan struct{})
	var watcher, writers sync.WaitGroup
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			if x := s.Stats(); x.Used > x.Quota || x.Used < 0 || x.ReadHeap > ReadBytes || fileBytes(t, s) > x.Quota {
				t.Errorf("%+v, files of %d bytes", x, fileBytes(t, s))
				return
			}
		}
	})
	for w := range uint64(4) {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(w, 2))
			stream := s.NewStream(3, header)
			var waiting []*spilled
			for i := range uint64(200) {
				if x, err := give(t, stream, w<<32+i, 1+r.IntN(60<<10)); err == nil {
					waiting = append(waiting, x)
				} else if !errors.As(err, new(*QuotaError)) && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
				for len(waiting) > 0 && r.IntN(3) > 0 {
					if r.IntN(4) == 0 {
						waiting[0].Drop()
					} else {
						waiting[0].requireClaim(t)
					}
					waiting = waiting[1:]
				}
			}
			stream.Close()
			for _, x := range waiting {
				x.Drop()
			}
		})
	}
	writers.Wait()
	close(stop)
	watcher.Wait()
	for end := time.Now().Add(limit); s.Stats().Used != 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // drops of batches that were being written
	}
	requireEmpty(t, s)
}

// Dead daemons' files go; a living one's, and everything that is not ours, stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	living := open(t, Config{Directory: dir, Daemon: 1})
	x := onDisk(t, living.NewStream(3, header), 1, 100)[0]
	for _, name := range []string{"penstock-00000000000000aa-1.arrows", "penstock-00000000000000aa-23.arrows", "penstock-00000000000000aa.lock",
		"penstock-00000000000000bb-1.arrows", // a lock that is gone
		"penstock-1.arrows", "notes.arrows", "penstock-00000000000000cc-x.arrows", "penstock-00000000000000cc-1.arrows.bak"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "penstock-00000000000000dd-1.arrows"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "notes.arrows"), filepath.Join(dir, "penstock-00000000000000ee-1.arrows")); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Directory: dir, Daemon: 2})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := "notes.arrows penstock-0000000000000001-1.arrows penstock-0000000000000001.lock penstock-0000000000000002.lock " +
		"penstock-00000000000000cc-1.arrows.bak penstock-00000000000000cc-x.arrows penstock-00000000000000dd-1.arrows " +
		"penstock-00000000000000ee-1.arrows penstock-1.arrows"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("left are\n%s, want\n%s", got, want)
	}
	x.requireClaim(t)
}

func TestTwoDaemonsStartAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for id := range uint64(16) {
		wg.Go(func() {
			for range 5 {
				f, err := openFolder(dir, id+1)
				if err != nil {
					t.Error(err)
					return
				}
				if !same(f.lock, f.lockPath()) {
					t.Errorf("daemon %d holds a lock that nobody sees", id)
				}
				if err := f.close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
