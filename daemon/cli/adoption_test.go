package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/shm"
)

const (
	// asClient makes the test binary play a TaskManager at this socket.
	asClient = "PENSTOCK_TEST_AS_CLIENT"
	mib      = 1 << 20
	// scribble is what a client writes all over its segments.
	scribble = 0xAB
)

// playClient never ends by itself: whoever started it kills it, and until then it maps what it was granted, whatever became of the daemon.
func playClient(path string) {
	t := daemontest.Program()
	c := daemontest.Open(t, path, "victim")
	for range 3 {
		segment := c.MustLease()
		for i := range segment.Mem {
			segment.Mem[i] = scribble
		}
	}
	fmt.Println(c.Welcome.GetSessionId())
	time.Sleep(10 * time.Minute)
}

// client is a process with a session and three segments, full of its rows.
func client(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asClient+"="+path)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatalf("the client does not get its segments: %v", err)
	}
	return cmd
}

// kill may be called more than once.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// books is the part of the status that these tests look at.
type books struct {
	ArenaID string `json:"arena_id"`
	Memory  struct {
		Capacity    int64  `json:"capacity_bytes,string"`
		Leased      int64  `json:"leased_bytes,string"`
		Warm        int64  `json:"warm_bytes,string"`
		Kernel      int64  `json:"kernel_bytes,string"`
		Tables      int64  `json:"table_bytes,string"`
		Orphan      int64  `json:"orphan_bytes,string"`
		Orphans     int    `json:"orphan_segments"`
		Adopted     int    `json:"adopted_segments"`
		Refused     int    `json:"refused_segments"`
		Differences uint64 `json:"differences,string"`
	} `json:"memory"`
}

func (m *manager) books() books {
	m.t.Helper()
	b, err := m.ask()
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *manager) ask() (b books, err error) {
	code, text, errOut := invoke("status", "--json", "--config", m.config)
	if err := json.Unmarshal([]byte(text), &b); code != exitOK || err != nil {
		return b, fmt.Errorf("status: %d, %v, %s%s", code, err, text, errOut)
	}
	return b, nil
}

// until waits until the books are as they should be, and shows them when they never are.
func (m *manager) until(what string, right func(books) bool) {
	m.t.Helper()
	for end := time.Now().Add(daemontest.Deadline); ; time.Sleep(5 * time.Millisecond) {
		b, err := m.ask() // fails while the daemon is being killed
		if err == nil && right(b) {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%s: %+v, %v\n%s", what, b, err, m.log)
		}
	}
}

// TestMemoryOfAKilledDaemonStaysInTheBooks: kill -9 of the daemon under a client that lives on. The next daemon counts the client's
// segments as orphans from its first moment, leases no more than the capacity beside them, and has them wiped and warm when the client
// is gone; the next session gets that very memory and finds nothing in it.
func TestMemoryOfAKilledDaemonStaysInTheBooks(t *testing.T) {
	m := manage(t, 16, "capacity = \"5MiB\"\nsegment = \"1MiB\"\nwarm_segments = 1\nslots_per_session = 64")
	m.start()
	victim := client(t, m.session())
	m.until("three leased, one warm", func(b books) bool { return b.Memory.Leased == 3*mib && b.Memory.Warm == mib })
	first, old := m.books(), m.inodes()
	if len(old) != 4 {
		t.Fatalf("%v are kept, want three leased segments and a warm one", m.names())
	}
	m.end(syscall.SIGKILL)
	if !slices.Equal(m.inodes(), old) {
		t.Fatalf("a killed daemon changed the store: %v", m.names())
	}

	m.start()
	b := m.books()
	if b.Memory.Adopted != 4 || b.Memory.Refused != 0 || b.Memory.Orphans != 3 || b.Memory.Orphan != 3*mib || b.Memory.Warm != mib ||
		b.Memory.Kernel != 4*mib || !slices.Equal(m.inodes(), old) {
		t.Errorf("the books of the next daemon: %+v, %v kept\n%s", b, m.names(), m.log)
	}
	if b.ArenaID == first.ArenaID {
		t.Error("the arena has its old id: old handles would look right")
	}
	if code, text, _ := invoke("status", "--config", m.config); code != exitOK || !strings.Contains(text, "4 segments adopted from the life before, 0 given up") {
		t.Errorf("status: %d, %s", code, text)
	}

	// 3 MiB of orphans, and a table: one more segment fits into 5 MiB, a second does not.
	next := daemontest.Open(t, m.session(), "next")
	requireWiped(t, next, old)
	if _, refused := next.Lease(); !strings.Contains(refused.GetMessage(), "arena are used") {
		t.Errorf("a lease beside the orphans: %v", refused)
	}
	if b := m.books(); b.Memory.Kernel > b.Memory.Capacity || b.Memory.Orphans != 3 {
		t.Errorf("%+v", b)
	}
	kill(victim)
	m.until("the orphans are gone, one of them is warm", func(b books) bool {
		return b.Memory.Orphans == 0 && b.Memory.Warm == mib && b.Memory.Kernel == 2*mib+b.Memory.Tables
	})
	requireWiped(t, next, old)
	next.Kill()
	// Longer than two rounds of the audit: what the books once say is what the kernel has.
	time.Sleep(2200 * time.Millisecond)
	if b := m.books(); b.Memory.Differences != 0 {
		t.Errorf("the books disagree: %+v\n%s", b, m.log)
	}
	m.end(syscall.SIGTERM)
}

// requireWiped leases a segment of the old life and finds zeros behind its header.
func requireWiped(t *testing.T, c *daemontest.Client, old []uint64) {
	t.Helper()
	fd := c.KeepDescriptor()
	segment := c.MustLease()
	var st unix.Stat_t
	if err := unix.Fstat(*fd, &st); err != nil || !slices.Contains(old, st.Ino) {
		t.Errorf("inode %d is none of the old life, %v (%v): memory was made a second time", st.Ino, old, err)
	}
	if rows := segment.Mem[shm.SegmentHeaderBytes:]; !bytes.Equal(rows, make([]byte, len(rows))) {
		t.Error("a session reads what a session of the old life wrote")
	}
	unix.Close(*fd)
}

// TestOrderlyRestartKeepsTheMemory: `systemctl restart` is SIGTERM and a start. The warm pool is there at once, and a stop for good
// is the manager's to clean up.
func TestOrderlyRestartKeepsTheMemory(t *testing.T) {
	m := manage(t, 16, "capacity = \"8MiB\"\nsegment = \"1MiB\"\nwarm_segments = 2")
	m.start()
	old := m.inodes()
	m.end(syscall.SIGTERM)
	m.start()
	if b := m.books(); b.Memory.Adopted != 2 || b.Memory.Warm != 2*mib || !slices.Equal(m.inodes(), old) {
		t.Errorf("%+v, %v kept\n%s", b, m.names(), m.log)
	}
	m.end(syscall.SIGTERM)
}

// TestSegmentsOfAnotherSizeAreGivenUp: arena.segment was changed before the restart.
func TestSegmentsOfAnotherSizeAreGivenUp(t *testing.T) {
	m := manage(t, 16, "capacity = \"8MiB\"\nsegment = \"1MiB\"\nwarm_segments = 2")
	m.start()
	m.end(syscall.SIGTERM)
	text, err := os.ReadFile(m.config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.config, bytes.Replace(text, []byte(`"1MiB"`), []byte(`"2MiB"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	m.start()
	if b := m.books(); b.Memory.Adopted != 0 || b.Memory.Refused != 2 || b.Memory.Warm != 4*mib || len(m.names()) != 2 ||
		!strings.Contains(m.log.String(), "it has 1048576 bytes and a segment has 2097152 now") {
		t.Errorf("%+v, %v kept\n%s", b, m.names(), m.log)
	}
	m.end(syscall.SIGTERM)
}

// TestAStoreThatIsTooSmall: what the manager drops ends with the daemon, and is made anew.
func TestAStoreThatIsTooSmall(t *testing.T) {
	m := manage(t, 1, "capacity = \"8MiB\"\nsegment = \"1MiB\"\nwarm_segments = 2")
	m.start()
	if !strings.Contains(m.log.String(), "FileDescriptorStoreMax=") {
		t.Errorf("a manager that says how little it keeps is not named\n%s", m.log)
	}
	m.end(syscall.SIGKILL)
	m.start()
	if b := m.books(); b.Memory.Adopted != 1 || b.Memory.Warm != 2*mib || b.Memory.Kernel != 2*mib {
		t.Errorf("%+v\n%s", b, m.log)
	}
	m.end(syscall.SIGTERM)
}

// recorder is a keeper that makes segments of another daemon for put.
type recorder struct{ fds []int }

func (r *recorder) Keep(_ string, fd int) {
	if duplicate, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		r.fds = append(r.fds, duplicate)
	}
}

func (r *recorder) Forget(string) {}

// segments are real ones, of a daemon that has ended.
func segments(t *testing.T, count int, bytes int64) []int {
	t.Helper()
	r := &recorder{}
	a, err := shm.NewArena(shm.Config{Capacity: int64(count) * bytes, SegmentBytes: bytes, WarmSegments: count, Keeper: r})
	if err == nil {
		err = a.FillWarm(context.Background())
	}
	if err != nil || len(r.fds) != count {
		t.Fatalf("%d segments, %v", len(r.fds), err)
	}
	a.Close()
	return r.fds
}

// TestHostileStore: whatever lies in the store, the daemon says why it takes none of it, and serves.
func TestHostileStore(t *testing.T) {
	m := manage(t, 64, "capacity = \"4MiB\"\nsegment = \"1MiB\"\nwarm_segments = 4")
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	m.put(shm.KeptPrefix+"pipe", pipe[0])
	file, err := unix.Open(filepath.Join(t.TempDir(), "file"), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	m.put(shm.KeptPrefix+"file", file)
	unsealed, err := unix.MemfdCreate("penstock-data-1", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil || unix.Ftruncate(unsealed, mib) != nil {
		t.Fatal(err)
	}
	m.put(shm.KeptPrefix+"unsealed", unsealed)
	m.put(shm.KeptPrefix+"size", segments(t, 1, 2*mib)[0])
	for _, fd := range segments(t, 2, mib) {
		m.put(shm.KeptPrefix+"twice", fd)
	}
	for n, fd := range segments(t, 6, mib) {
		m.put(fmt.Sprintf("%s%d", shm.KeptPrefix, n), fd)
	}
	m.start()
	b, text := m.books(), m.log.String()
	// Of six right ones four fit.
	if b.Memory.Adopted != 4 || b.Memory.Refused != 8 || b.Memory.Warm != 4*mib || len(m.names()) != 4 {
		t.Errorf("%+v, %v kept\n%s", b, m.names(), text)
	}
	for name, reason := range map[string]string{"pipe": "no memory file of ours", "file": "no memory file of ours", "unsealed": "its seals are",
		"size": "it has 2097152 bytes and a segment has 1048576 now", "twice": "several descriptors have this name",
		"4": "the arena is full", "5": "the arena is full"} {
		if !slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
			return strings.Contains(line, "segment="+shm.KeptPrefix+name+" ") && strings.Contains(line, reason)
		}) {
			t.Errorf("no line says of %q that %q\n%s", name, reason, text)
		}
	}
	c := daemontest.Dial(t, m.session())
	if refused := c.Greet(daemontest.Hello("p")); refused != nil {
		t.Fatalf("refused: %v", refused)
	}
	c.MustLease()
	m.end(syscall.SIGTERM)
}
