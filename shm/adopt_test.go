package shm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

// shelf is a keeper in this process: like a service manager it holds the same open files.
type shelf struct{ held map[string]int }

func newShelf(t *testing.T) *shelf {
	s := &shelf{map[string]int{}}
	t.Cleanup(func() {
		for name := range s.held {
			s.Forget(name)
		}
	})
	return s
}

func (s *shelf) Keep(name string, fd int) {
	duplicate, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil || s.held[name] != 0 {
		panic(fmt.Sprint(name, " is kept twice, or ", err))
	}
	s.held[name] = duplicate
}

func (s *shelf) Forget(name string) {
	if fd, found := s.held[name]; found {
		unix.Close(fd)
	}
	delete(s.held, name)
}

// names are those of what is held.
func (s *shelf) names() []string { return slices.Sorted(maps.Keys(s.held)) }

// out is the descriptor that the next daemon gets.
func (s *shelf) out(t *testing.T, name string) int {
	t.Helper()
	fd, err := unix.FcntlInt(uintptr(s.held[name]), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// life is one daemon's arena of so many segments, with as many warm.
func life(t *testing.T, keeper shm.Keeper, segments, warm int, bytes int64) *shm.Arena {
	t.Helper()
	a, err := shm.NewArena(shm.Config{Capacity: int64(segments) * bytes, SegmentBytes: bytes, WarmSegments: warm, Keeper: keeper})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// oneLife has a segment leased to a client that writes all over it, and ends. The result is what the keeper has.
func oneLife(t *testing.T, keeper *shelf) (name string, client *shmtest.Segment) {
	t.Helper()
	a := life(t, keeper, 1, 1, segmentBytes)
	client = mapSegment(t, lease(t, a, 1))
	for i := range client.Mem {
		client.Mem[i] = 0xAB
	}
	a.Close()
	names := keeper.names()
	if len(names) != 1 || !strings.HasPrefix(names[0], shm.KeptPrefix) {
		t.Fatalf("%v is kept when the daemon has ended, want one segment", names)
	}
	return names[0], client
}

// TestAdopted: an orphan from the first moment while a client of the old life maps it, then wiped and warm; nothing is made anew.
func TestAdopted(t *testing.T) {
	keeper := newShelf(t)
	name, client := oneLife(t, keeper)
	a := life(t, keeper, 2, 1, segmentBytes)
	if err := a.Adopt(name, keeper.out(t, name)); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, a); a.Sweep() != 1 || st.Orphans != segmentBytes || st.Used != segmentBytes || st.Kernel != st.Used || st.WarmSegments != 0 {
		t.Errorf("while a client maps it: %+v", st)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if left := a.Sweep(); left != 0 {
		t.Errorf("%d orphans are left when the client has let go", left)
	}
	if st := stats(t, a); st.WarmSegments != 1 || st.Used != segmentBytes || st.Kernel != st.Used {
		t.Errorf("let go: %+v", st)
	}
	if err := a.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	if names := keeper.names(); len(names) != 1 {
		t.Errorf("%v: a segment was made though one was there", names)
	}
	next := mapSegment(t, lease(t, a, 2))
	if rest := next.Mem[shm.SegmentHeaderBytes:]; !bytes.Equal(rest, make([]byte, len(rest))) {
		t.Error("the next session reads what the old one wrote")
	}
	if next.ArenaID() != a.ID() {
		t.Errorf("arena %x, want %x", next.ArenaID(), a.ID())
	}
}

// TestWhatIsDestroyedIsForgotten: and what is only not used at the moment is not.
func TestWhatIsDestroyedIsForgotten(t *testing.T) {
	keeper := newShelf(t)
	a := life(t, keeper, 4, 1, segmentBytes)
	for range 3 {
		lease(t, a, 1)
	}
	if _, err := a.NewTable(1, 8); err != nil {
		t.Fatal(err)
	}
	if names := keeper.names(); len(names) != 3 {
		t.Errorf("%v are kept, want three data segments and no table", names)
	}
	a.Revoke(1)
	if names := keeper.names(); len(names) != 1 {
		t.Errorf("%v are kept, want the warm one", names)
	}
}

// TestMoreThanThePoolHoldsIsGivenBack: what is adopted beyond the mark of the warm pool is freed at once.
func TestMoreThanThePoolHoldsIsGivenBack(t *testing.T) {
	keeper := newShelf(t)
	old := life(t, keeper, 3, 3, segmentBytes)
	if err := old.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	old.Close()
	a := life(t, keeper, 3, 1, segmentBytes)
	for _, name := range keeper.names() {
		if err := a.Adopt(name, keeper.out(t, name)); err != nil {
			t.Error(err)
		}
	}
	if st := stats(t, a); st.WarmSegments != 1 || st.Used != segmentBytes || len(keeper.names()) != 1 {
		t.Errorf("%+v, and %v are kept", st, keeper.names())
	}
}

// TestAdoptAfterADeathInTheQuestion: a daemon that died between taking a lease from the kernel and giving it back leaves it with
// the open file that the keeper has; to open the memory then would wait for it, 45 s long.
func TestAdoptAfterADeathInTheQuestion(t *testing.T) {
	keeper := newShelf(t)
	name, client := oneLife(t, keeper)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	fd := keeper.out(t, name)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Fatal(err)
	}
	a := life(t, keeper, 1, 1, segmentBytes)
	begun := time.Now()
	if err := a.Adopt(name, fd); err != nil {
		t.Fatal(err)
	}
	mapSegment(t, lease(t, a, 1))
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// file makes a memory file and opens it as beOneOpenFile does.
func file(t *testing.T, name string, size int64, seals int) int {
	t.Helper()
	made, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err == nil {
		err = errors.Join(unix.Fchmod(made, 0o600), unix.Ftruncate(made, size), unix.Fallocate(made, 0, 0, size))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(made), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(made)
	return opened(t, shmtest.Entry(made), unix.O_RDWR)
}

func opened(t *testing.T, path string, flags int) int {
	t.Helper()
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

const ourSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// hostile are descriptors that no daemon would have kept, and a word of the reason why they are refused.
var hostile = map[string]struct {
	reason string
	make   func(t *testing.T) int
}{
	"a pipe": {"pipe:", func(t *testing.T) int {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		unix.Close(pipe[1])
		return pipe[0]
	}},
	"a plain file": {"no memory file", func(t *testing.T) int {
		path := filepath.Join(t.TempDir(), "memfd:penstock-data-1")
		if err := os.WriteFile(path, make([]byte, segmentBytes), 0o600); err != nil {
			t.Fatal(err)
		}
		return opened(t, path, unix.O_RDWR)
	}},
	"another's memory file": {"no memory file of ours", func(t *testing.T) int { return file(t, "else", segmentBytes, ourSeals) }},
	"not sealed":            {"its seals are", func(t *testing.T) int { return file(t, "penstock-data-1", segmentBytes, 0) }},
	"not sealed against growth": {"its seals are", func(t *testing.T) int {
		return file(t, "penstock-data-1", segmentBytes, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}},
	"sealed against writing": {"its seals are", func(t *testing.T) int {
		return file(t, "penstock-data-1", segmentBytes, ourSeals|unix.F_SEAL_FUTURE_WRITE)
	}},
	"read-only": {"reading and writing", func(t *testing.T) int {
		fd := file(t, "penstock-data-1", segmentBytes, ourSeals)
		defer unix.Close(fd)
		return opened(t, shmtest.Entry(fd), unix.O_RDONLY)
	}},
	"another mode": {"mode 0644", func(t *testing.T) int {
		fd := file(t, "penstock-data-1", segmentBytes, ourSeals)
		if err := unix.Fchmod(fd, 0o644); err != nil {
			t.Fatal(err)
		}
		return fd
	}},
	"another size": {"segment has 65536 now", func(t *testing.T) int { return file(t, "penstock-data-1", 2*segmentBytes, ourSeals) }},
	"a hole": {"4096 of its 65536 bytes are holes", func(t *testing.T) int {
		fd := file(t, "penstock-data-1", segmentBytes, ourSeals)
		if err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 8192, 4096); err != nil {
			t.Fatal(err)
		}
		return fd
	}},
	"as memfd_create gives it": {"does not count", func(t *testing.T) int {
		fd, err := unix.MemfdCreate("penstock-data-1", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = errors.Join(unix.Fchmod(fd, 0o600), unix.Ftruncate(fd, segmentBytes), unix.Fallocate(fd, 0, 0, segmentBytes))
		}
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, ourSeals)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}},
	"a number that is closed": {"bad file descriptor", func(*testing.T) int { return 1 << 20 }},
}

// TestHostileDescriptorsAreRefused: each for its own reason, and nothing of them stays.
func TestHostileDescriptorsAreRefused(t *testing.T) {
	for name, h := range hostile {
		t.Run(name, func(t *testing.T) {
			keeper := newShelf(t)
			a := life(t, keeper, 2, 1, segmentBytes)
			fd := h.make(t)
			if fd != 1<<20 {
				keeper.Keep("penstock-segment-x", fd)
			}
			err := a.Adopt("penstock-segment-x", fd)
			var refused *shm.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, h.reason) || !strings.Contains(err.Error(), "penstock-segment-x") {
				t.Errorf("%v, want %q in it", err, h.reason)
			}
			if unix.Close(fd) == nil {
				t.Error("the descriptor is still open")
			}
			if st := stats(t, a); st.Used != 0 || len(keeper.names()) != 0 {
				t.Errorf("%+v, and %v are kept", st, keeper.names())
			}
		})
	}
}

// TestNoMoreIsAdoptedThanTheArenaHolds: nor twice the same, nor by a closed arena.
func TestNoMoreIsAdoptedThanTheArenaHolds(t *testing.T) {
	keeper := newShelf(t)
	old := life(t, keeper, 4, 4, segmentBytes)
	if err := old.FillWarm(context.Background()); err != nil {
		t.Fatal(err)
	}
	old.Close()
	names := keeper.names()
	a := life(t, keeper, 2, 2, segmentBytes)
	if err := a.Adopt(names[0], keeper.out(t, names[0])); err != nil {
		t.Fatal(err)
	}
	if err := a.Adopt("again", keeper.out(t, names[0])); err == nil || !strings.Contains(err.Error(), "in the arena already") {
		t.Errorf("the same memory again: %v", err)
	}
	if err := a.Adopt(names[1], keeper.out(t, names[1])); err != nil {
		t.Fatal(err)
	}
	if err := a.Adopt(names[2], keeper.out(t, names[2])); err == nil || !strings.Contains(err.Error(), "the arena is full") {
		t.Errorf("one too many: %v", err)
	}
	if st := stats(t, a); st.Used != 2*segmentBytes || st.Kernel != st.Used {
		t.Errorf("%+v", st)
	}
	a.Close()
	if err := a.Adopt(names[3], keeper.out(t, names[3])); !errors.Is(err, shm.ErrClosed) {
		t.Errorf("a closed arena: %v", err)
	}
	if left := keeper.names(); !slices.Equal(left, []string{names[0], names[1], names[3]}) {
		t.Errorf("%v are kept, want all but the one too many of %v", left, names)
	}
}
