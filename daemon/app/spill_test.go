package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// The window of the tests' writers: eight extents. Batches have 40 to 45 KB, so that two stay in memory.
const (
	pushWindow = 8
	pushRows   = 2000
)

// stalled is a daemon with a disk, whose engine stands still until resume, and one writer with an open epoch.
type stalled struct {
	*running
	dir    string
	gate   chan struct{}
	client *daemontest.Client
	writer *daemontest.Writer
	pusher *daemontest.Pusher
}

func startStalled(t *testing.T, mode string, change func(*config.Config), open func(*pb.OpenWriter)) *stalled {
	t.Helper()
	x := &stalled{dir: filepath.Join(t.TempDir(), "spill"), gate: make(chan struct{})}
	x.running = start(t, kafkatest.Faults{ProduceGate: x.gate}, func(c *config.Config) {
		c.Spill = config.Spill{Mode: mode, Directory: x.dir, Quota: 4 * config.MiB, HighWater: 96 * config.KiB, Patience: config.Duration(time.Millisecond)}
		if change != nil {
			change(c)
		}
		x.dir = c.Spill.Directory
	})
	x.client = x.running.client("p1")
	request := daemontest.OpenRequest(x.client, pb.DeliveryGuarantee_EXACTLY_ONCE)
	if open != nil {
		open(request)
	}
	x.writer = daemontest.NewWriter(t, x.api(), request)
	x.writer.Opened()
	x.writer.Begin(1, "tx-1")
	x.pusher = daemontest.NewPusher(x.client, x.writer, pushWindow, extentBytes, pushRows)
	t.Cleanup(x.resume) // before the daemon ends
	return x
}

func (x *stalled) resume() {
	select {
	case <-x.gate:
	default:
		close(x.gate)
	}
}

func (x *stalled) spill() *pb.SpillStatus { return x.app.Status().GetSpill() }

// awaitOnDisk waits until nothing is being written any more and at least n batches are on the disk.
func (x *stalled) awaitOnDisk(n uint32) {
	x.t.Helper()
	daemontest.Eventually(x.t, "batches are on the disk", func() bool { return x.spill().GetBatches() >= n })
}

func (x *stalled) files() []string {
	x.t.Helper()
	paths, err := filepath.Glob(filepath.Join(x.dir, "*.arrows"))
	if err != nil {
		x.t.Fatal(err)
	}
	return paths
}

// requireDiskEmpty waits until no batch and no file is left.
func (x *stalled) requireDiskEmpty() {
	x.t.Helper()
	daemontest.Eventually(x.t, "the disk is empty", func() bool {
		s := x.spill()
		return s.GetUsedBytes() == 0 && s.GetFiles() == 0 && s.GetBatches() == 0 && len(x.files()) == 0
	})
}

func TestStalledBrokerMovesBatchesToTheDisk(t *testing.T) {
	for _, mode := range []string{config.SpillBounded, config.SpillOn} {
		t.Run(mode, func(t *testing.T) {
			x := startStalled(t, mode, nil, nil)
			// Four windows, while the engine takes nothing at all.
			x.pusher.MustPush(1, 4*pushWindow)
			x.awaitOnDisk(4*pushWindow - 3) // one is in the engine, and two stay
			status := x.app.Status()
			s := status.GetSpill()
			if s.GetMode() != mode || s.GetUsedBytes() > s.GetQuotaBytes() || s.GetBatchesRead() != 0 || s.GetFiles() == 0 ||
				status.GetMemory().GetSpilledBytes() == 0 || int(s.GetFiles()) != len(status.GetSpillFiles()) ||
				status.GetSpillFiles()[0].GetSessionId() != x.client.Welcome.GetSessionId() || status.GetSpillFiles()[0].GetBatches() == 0 {
				t.Errorf("%v", status)
			}
			if got := purpose(status, "spill_read_back"); got == 0 || got > extentBytes*2 {
				t.Errorf("the account has %d bytes for reading back", got)
			}
			x.requireArrowFiles()
			x.resume()
			x.writer.Seal(1, uint64(x.pusher.Next))
			requireValues(t, x.engine.Sealed("tx-1"), 0, x.pusher.Next)
			x.requireDiskEmpty()
			status = x.app.Status()
			s = status.GetSpill()
			if s.GetBatchesRead() != s.GetBatchesWritten() || s.GetBytesRead() != s.GetBytesWritten() || s.GetBatchesRead() < 3*pushWindow ||
				s.GetReadFailures()+s.GetWriteFailures()+s.GetRefused() != 0 || purpose(status, "spill_read_back") != 0 {
				t.Errorf("%v", status)
			}
			// A broker that keeps up costs no disk.
			x.writer.Begin(2, "tx-2")
			first := x.pusher.Next
			x.pusher.MustPush(2, pushWindow)
			x.writer.Seal(2, pushWindow*pushRows)
			requireValues(t, x.engine.Sealed("tx-2"), first, pushWindow*pushRows)
		})
	}
}

// TestSmallBatchesGoToTheDiskToo: a client that closes its batches by time has as many outstanding as it may long before they come to the
// high water.
func TestSmallBatchesGoToTheDiskToo(t *testing.T) {
	const clientWindow = 6 // CreditWindow.mostExtents with the default credit
	x := startStalled(t, config.SpillBounded, func(c *config.Config) { c.Spill.HighWater = 2 * config.MiB }, nil)
	p := daemontest.NewPusher(x.client, x.writer, clientWindow, extentBytes, 1)
	p.MustPush(1, 4*clientWindow)
	x.awaitOnDisk(4*clientWindow - 4) // one is in the engine, and three stay
	x.resume()
	x.writer.Seal(1, uint64(p.Next))
	requireValues(t, x.engine.Sealed("tx-1"), 0, p.Next)
	x.requireDiskEmpty()
}

// purpose is what all accounts hold for it.
func purpose(s *pb.GetStatusResponse, name string) (sum uint64) {
	for _, account := range s.GetAccounts() {
		for _, p := range account.GetByPurpose() {
			if p.GetPurpose() == name {
				sum += p.GetBytes()
			}
		}
	}
	return sum
}

// requireArrowFiles reads the files with arrow-go: whole batches of consecutive ids.
func (x *stalled) requireArrowFiles() {
	x.t.Helper()
	rows := 0
	for _, path := range x.files() {
		text, err := os.ReadFile(path)
		if err != nil {
			x.t.Fatal(err)
		}
		r, err := ipc.NewReader(bytes.NewReader(text))
		if err != nil {
			x.t.Fatal(err)
		}
		for r.Next() {
			ids := r.RecordBatch().Column(0).(*array.Int64)
			names := r.RecordBatch().Column(1).(*array.String)
			for i := range ids.Len() {
				if ids.Value(i) != ids.Value(0)+int64(i) || !strings.HasSuffix(daemontest.JSON(int(ids.Value(i))), names.Value(i)+`"}`) {
					x.t.Fatalf("row %d of a batch is %d, %q", i, ids.Value(i), names.Value(i))
				}
			}
			rows += ids.Len()
		}
		if r.Err() != nil {
			x.t.Errorf("%s: %v", path, r.Err())
		}
		r.Release()
	}
	if want := int(x.spill().GetBatches()) * pushRows; rows != want {
		x.t.Errorf("arrow-go reads %d rows, want %d", rows, want)
	}
}

func TestFullQuota(t *testing.T) {
	push := func(x *stalled) (refused bool) {
		for range 200 { // 9 MB of columns
			if !x.pusher.Push(1, 2*retrySoon) {
				return true
			}
		}
		return false
	}
	t.Run("bounded waits", func(t *testing.T) {
		x := startStalled(t, config.SpillBounded, nil, nil)
		if !push(x) {
			t.Fatal("the client was never held back")
		}
		s := x.spill()
		if s.GetRefused() == 0 || s.GetUsedBytes() > s.GetQuotaBytes() || s.GetUsedBytes() < s.GetQuotaBytes()*9/10 {
			t.Errorf("%v", s)
		}
		x.resume()
		x.pusher.MustPush(1, 20)
		x.writer.Seal(1, uint64(x.pusher.Next))
		requireValues(t, x.engine.Sealed("tx-1"), 0, x.pusher.Next)
		x.requireDiskEmpty()
	})
	t.Run("on fails", func(t *testing.T) {
		x := startStalled(t, config.SpillOn, nil, nil)
		push(x)
		// At once, although the engine still stands.
		if e := x.writer.Failure(); e.GetKind() != pb.ErrorKind_DENIED || !strings.Contains(e.GetMessage(), "spill.quota = 4194304") {
			t.Errorf("%v", e)
		}
		x.resume()
		x.client.Kill()
		x.requireNothingHeld()
		x.requireDiskEmpty()
	})
}

// retrySoon is longer than a stalled daemon needs to take note of a refusal.
const retrySoon = 200 * time.Millisecond

// A disk that is full before its quota is: the batches that it refuses wait in memory, unharmed.
func TestFullDisk(t *testing.T) {
	small := func(t *testing.T) func(*config.Config) {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("a small tmpfs needs the right to mount: %v", err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		return func(c *config.Config) { c.Spill.Directory = dir }
	}
	t.Run("bounded waits", func(t *testing.T) {
		x := startStalled(t, config.SpillBounded, small(t), nil)
		for range 100 {
			if !x.pusher.Push(1, retrySoon) {
				break
			}
		}
		if s := x.spill(); s.GetWriteFailures() == 0 || x.pusher.Next == 100*pushRows {
			t.Errorf("%d rows, %v", x.pusher.Next, s)
		}
		x.resume()
		x.pusher.MustPush(1, 20)
		x.writer.Seal(1, uint64(x.pusher.Next))
		requireValues(t, x.engine.Sealed("tx-1"), 0, x.pusher.Next)
		x.requireDiskEmpty()
	})
	t.Run("on fails", func(t *testing.T) {
		x := startStalled(t, config.SpillOn, small(t), nil)
		for range 100 {
			if !x.pusher.Push(1, retrySoon) {
				break
			}
		}
		if e := x.writer.Failure(); e.GetKind() != pb.ErrorKind_DENIED || !strings.Contains(e.GetMessage(), "no space left on device") {
			t.Errorf("%v", e)
		}
		x.resume()
		x.writer.Cancel()
		x.requireDiskEmpty()
	})
}

// What comes back changed fails the epoch; no row of it is committed.
func TestDamagedFileFailsTheEpoch(t *testing.T) {
	x := startStalled(t, config.SpillBounded, nil, nil)
	x.pusher.MustPush(1, 2*pushWindow)
	x.awaitOnDisk(pushWindow)
	for _, path := range x.files() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 4
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.resume()
	if e := x.writer.Failure(); e.GetKind() != pb.ErrorKind_FAIL_EPOCH || !strings.Contains(e.GetMessage(), "is damaged") {
		t.Errorf("%v", e)
	}
	if err := x.writer.Close(); err.Error() != "EOF" {
		t.Error(err)
	}
	x.requireDiskEmpty()
	if s := x.spill(); s.GetReadFailures() != 1 || x.engine.Sealed("tx-1") != nil {
		t.Errorf("%v", s)
	}
	for slot := x.client.Welcome.GetFirstSlot(); slot < x.client.Welcome.GetFirstSlot()+pushWindow; slot++ {
		daemontest.Eventually(t, "every slot is given back", func() bool { return x.client.Table.Word(slot).State() == 0 })
	}
}

// An abort lets what waits go unread; the writer goes on with the next epoch.
func TestAbortDropsWhatWaits(t *testing.T) {
	x := startStalled(t, config.SpillBounded, nil, nil)
	x.pusher.MustPush(1, 4*pushWindow)
	x.awaitOnDisk(3 * pushWindow)
	x.writer.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Abort{Abort: &pb.AbortEpoch{EpochId: 1}}})
	x.requireDiskEmpty() // while the engine still stands
	x.resume()
	if event := x.writer.Next(); event.GetAborted().GetEpochId() != 1 {
		t.Fatalf("%v", event)
	}
	if s := x.spill(); s.GetBatchesRead() != 0 {
		t.Errorf("%v", s)
	}
	first := x.pusher.Next
	x.writer.Begin(2, "tx-2")
	x.pusher.MustPush(2, 3*pushWindow)
	x.writer.Seal(2, 3*pushWindow*pushRows)
	requireValues(t, x.engine.Sealed("tx-2"), first, 3*pushWindow*pushRows)
	x.requireDiskEmpty()
}

// A client that dies, or a stream that ends, takes its batches with it, also those that are being written.
func TestEndsDropWhatWaits(t *testing.T) {
	for name, end := range map[string]func(*stalled){
		"session": func(x *stalled) { x.client.Kill() },
		"stream":  func(x *stalled) { x.writer.Cancel() },
		"failure": func(x *stalled) {
			x.writer.Submit(9, &pb.SubmitBatch{Sequence: 1}) // of an epoch that is not open
			x.resume()
			x.writer.Failure()
			x.writer.Cancel()
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := startStalled(t, config.SpillBounded, nil, nil)
			x.pusher.MustPush(1, 4*pushWindow)
			if name != "session" {
				// One is in the engine and two stay in memory: the daemon has received them all. With the session they end in mid-air.
				x.awaitOnDisk(4*pushWindow - 3)
			}
			end(x)
			x.resume()
			daemontest.Eventually(t, "the writer ends", func() bool { return len(x.app.Status().GetWriters()) == 0 })
			x.requireDiskEmpty()
			if name != "session" {
				counts := func() (n uint32) {
					s := x.app.Status().GetSessions()[0]
					return s.GetSlotsParked() + s.GetSlotsClaimed()
				}
				daemontest.Eventually(t, "every slot is given back", func() bool { return counts() == 0 })
				x.client.Kill()
			}
			x.requireNothingHeld()
		})
	}
}

// The disk does not hide the age of a transaction.
func TestSpilledEpochGetsTooOld(t *testing.T) {
	x := startStalled(t, config.SpillBounded, nil, func(o *pb.OpenWriter) { o.Kafka.TransactionTimeoutMs = 300 })
	x.pusher.MustPush(1, 2*pushWindow)
	x.awaitOnDisk(pushWindow)
	time.Sleep(300 * time.Millisecond)
	x.resume()
	if e := x.writer.Failure(); e.GetKind() != pb.ErrorKind_FAIL_EPOCH || !strings.Contains(e.GetMessage(), "properties.transaction.timeout.ms = 300") {
		t.Errorf("%v", e)
	}
	x.writer.Cancel()
	x.requireDiskEmpty()
}

// Without room in the account to read a batch back, it stays in memory, and the client waits.
func TestNoBudgetToReadBack(t *testing.T) {
	gate := make(chan struct{})
	dir := filepath.Join(t.TempDir(), "spill")
	r := start(t, kafkatest.Faults{ProduceGate: gate}, func(c *config.Config) {
		c.Spill = config.Spill{Mode: config.SpillBounded, Directory: dir, Quota: 4 * config.MiB, HighWater: 96 * config.KiB,
			Patience: config.Duration(time.Millisecond)}
	})
	c := daemontest.Dial(t, r.config.Listen.SessionPath())
	hello := daemontest.Hello("p1")
	// One segment, the writer's queue and what it encodes into: nothing is left.
	const queue = 4 << 20
	hello.BudgetBytes = 1<<20 + queue + 2<<20
	if refused := c.Greet(hello); refused != nil {
		t.Fatal(refused)
	}
	open := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	open.Kafka.BufferBytes = queue
	w := daemontest.NewWriter(t, r.api(), open)
	w.Opened()
	w.Begin(1, "tx-1")
	p := daemontest.NewPusher(c, w, pushWindow, extentBytes, pushRows)
	for p.Push(1, retrySoon) {
	}
	if s := r.app.Status().GetSpill(); s.GetBatchesWritten() != 0 || s.GetUsedBytes() != 0 || p.Next != (pushWindow+1)*pushRows {
		t.Errorf("%d rows, %v", p.Next, s)
	}
	close(gate)
	p.MustPush(1, pushWindow)
	w.Seal(1, uint64(p.Next))
	requireValues(t, r.engine.Sealed("tx-1"), 0, p.Next)
}

// Nothing of the spill waits for who waits for memory: while every other session of the process is held in a reservation, batches go to the
// disk and come back.
func TestSpillWhileOthersReserve(t *testing.T) {
	gate := make(chan struct{})
	dir := filepath.Join(t.TempDir(), "spill")
	r := start(t, kafkatest.Faults{ProduceGate: gate}, func(c *config.Config) {
		c.Arena.GrantWait = config.Duration(10 * time.Second)
		c.Spill = config.Spill{Mode: config.SpillBounded, Directory: dir, Quota: 4 * config.MiB, HighWater: 96 * config.KiB,
			Patience: config.Duration(time.Millisecond)}
	})
	const queue, others = 4 << 20, 3
	hello := daemontest.Hello("p1")
	// One segment for each session, the writer's queue, what it encodes into, and room to read one batch back.
	hello.BudgetBytes = (1+others)<<20 + queue + 2<<20 + extentBytes
	greet := func() *daemontest.Client {
		c := daemontest.Dial(t, r.config.Listen.SessionPath())
		if refused := c.Greet(hello); refused != nil {
			t.Fatal(refused)
		}
		return c
	}
	c := greet()
	open := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	open.Kafka.BufferBytes = queue
	w := daemontest.NewWriter(t, r.api(), open)
	w.Opened()
	w.Begin(1, "tx-1")
	p := daemontest.NewPusher(c, w, pushWindow, extentBytes, pushRows)
	lease := &pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{Purpose: "test"}}}
	answered := make(chan error, others)
	var waiting []*daemontest.Client
	for range others {
		other := greet()
		other.MustLease()
		waiting = append(waiting, other)
	}
	for _, other := range waiting {
		go func() {
			_, _, err := other.TryAsk(lease)
			answered <- err
		}()
	}
	daemontest.Eventually(t, "all others wait", func() bool { return r.app.ledger.Usage()[0].Waits == others })
	p.MustPush(1, 3*pushWindow)
	daemontest.Eventually(t, "batches are on the disk", func() bool { return r.app.Status().GetSpill().GetBatches() >= 2*pushWindow })
	close(gate)
	w.Seal(1, uint64(p.Next))
	requireValues(t, r.engine.Sealed("tx-1"), 0, p.Next)
	if s := r.app.Status().GetSpill(); s.GetBatchesRead() < 2*pushWindow || len(answered) != 0 {
		t.Errorf("%d reservations ended meanwhile, %v", len(answered), s)
	}
	for _, other := range waiting {
		other.Kill()
	}
	for range others {
		if err := <-answered; err == nil {
			t.Error("a reservation got memory that nobody gave back")
		}
	}
}

// A writer that has nothing to do reports what its neighbours have on the disk; a client of another process has nothing there.
func TestTheReportOfAnAccountHasItsBatchesOnTheDisk(t *testing.T) {
	x := startStalled(t, config.SpillBounded, nil, nil)
	neighbour := daemontest.NewWriter(t, x.api(), daemontest.OpenRequest(x.client, pb.DeliveryGuarantee_EXACTLY_ONCE))
	neighbour.Opened()
	stranger := daemontest.NewWriter(t, x.api(), daemontest.OpenRequest(x.running.client("p2"), pb.DeliveryGuarantee_EXACTLY_ONCE))
	stranger.Opened()
	x.pusher.MustPush(1, 2*pushWindow)
	x.awaitOnDisk(pushWindow)
	daemontest.Eventually(t, "the neighbour reports them", func() bool {
		p := neighbour.Progress()
		return p.GetAccount().GetSpilledBytes() > 0 && p.GetAccount().GetSpilledBytes() == x.app.Status().GetMemory().GetSpilledBytes()
	})
	daemontest.Eventually(t, "the stranger reports", func() bool { return stranger.Progress() != nil })
	if p := stranger.Progress(); p.GetAccount().GetCapacityBytes() == 0 || p.GetAccount().GetSpilledBytes() != 0 {
		t.Errorf("the stranger reports %v", p)
	}
}
