package app

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/shmtest"
)

const (
	mib = 1 << 20
	// queue is the limit of one producer's queue in these tests, buffer a writer's first encode buffer.
	queue  = 4 * mib
	buffer = 2 * mib
)

// poor is a client whose TaskManager has so many bytes of budget.
func (r *running) poor(process string, budget uint64) *daemontest.Client {
	r.t.Helper()
	hello := daemontest.Hello(process)
	hello.BudgetBytes = budget
	c := daemontest.Dial(r.t, r.config.Listen.SessionPath())
	if refused := c.Greet(hello); refused != nil {
		r.t.Fatalf("refused: %v", refused)
	}
	return c
}

func openRequest(c *daemontest.Client) *pb.OpenWriter {
	open := daemontest.OpenRequest(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	open.Kafka.BufferBytes = queue
	return open
}

// requireReserved waits until the only account holds exactly this.
func (r *running) requireReserved(when string, want memctl.Amounts) {
	r.t.Helper()
	daemontest.Eventually(r.t, when, func() bool {
		usage := r.app.ledger.Usage()
		return len(usage) == 1 && usage[0].By == want
	})
}

// TestMemoryFollowsAWriter: every step of a writer reserves and returns what it makes and ends.
func TestMemoryFollowsAWriter(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	w := daemontest.NewWriter(t, r.api(), openRequest(c))
	w.Opened()
	r.requireReserved("the buffer at open", memctl.Amounts{memctl.EncodeBuffer: buffer})
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{TransactionalId: "id-1"}}})
	r.requireReserved("the queue of the warm producer", memctl.Amounts{memctl.EncodeBuffer: buffer, memctl.ProducerQueue: queue})
	w.Begin(1, "id-1")
	r.requireReserved("the same producer, open", memctl.Amounts{memctl.EncodeBuffer: buffer, memctl.ProducerQueue: queue})
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{TransactionalId: "id-2"}}})
	r.requireReserved("an open and a warm producer", memctl.Amounts{memctl.EncodeBuffer: buffer, memctl.ProducerQueue: 2 * queue})
	data := c.MustLease()
	r.requireReserved("a lease", memctl.Amounts{memctl.Lease: mib, memctl.EncodeBuffer: buffer, memctl.ProducerQueue: 2 * queue})
	w.Submit(1, c.Park(data, shm.SegmentHeaderBytes, daemontest.Rows(1, 0, 10)))
	w.Seal(1, 10)
	r.requireReserved("sealed", memctl.Amounts{memctl.Lease: mib, memctl.EncodeBuffer: buffer, memctl.ProducerQueue: queue})
	if err := w.Close(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Fatal(err)
	}
	r.requireReserved("closed", memctl.Amounts{memctl.Lease: mib})
	c.Kill()
	r.requireNothingHeld()
}

// TestStatusShowsTheMemory: accounts by purpose, owners, leases, slots and producers, as the command line and the metrics show them.
func TestStatusShowsTheMemory(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	w := daemontest.NewWriter(t, r.api(), openRequest(c))
	w.Opened()
	w.Begin(1, "id-1")
	w.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{TransactionalId: "id-2"}}})
	r.requireReserved("both producers", memctl.Amounts{memctl.EncodeBuffer: buffer, memctl.ProducerQueue: 2 * queue})
	parked := c.Park(c.MustLease(), shm.SegmentHeaderBytes, daemontest.Rows(1, 0, 10))
	s, err := pb.NewDiagnosticsServiceClient(r.api()).GetStatus(t.Context(), &pb.GetStatusRequest{Slots: true})
	if err != nil {
		t.Fatal(err)
	}
	batch := uint64(len(daemontest.Rows(1, 0, 10).Body))
	account := s.GetAccounts()[0]
	if account.GetProcess() != "tm-p" || account.GetReservedBytes() != mib+buffer+2*queue || account.GetInFlightBytes() != batch ||
		account.GetByPurpose()[0].GetPurpose() != "lease" || account.GetByPurpose()[0].GetBytes() != mib ||
		account.GetCapacityBytes() != account.GetReservedBytes()+account.GetPromisedBytes()+account.GetAvailableBytes() {
		t.Errorf("%v", account)
	}
	if o := account.GetOwners(); len(o) != 2 || o[0].GetMinimumBytes() != mib || o[1].GetVertex() != "sink" || o[1].GetAttempt() != 2 ||
		o[1].GetJobId() != "job" || o[1].GetMinimumBytes() != queue+buffer {
		t.Errorf("%v", o)
	}
	if l := s.GetLeases(); len(l) != 1 || l[0].GetKernelBytes() != mib || l[0].GetSessionId() != c.Welcome.GetSessionId() {
		t.Errorf("%v", l)
	}
	if x := s.GetSlots(); len(x) != 1 || x[0].GetSlot() != parked.GetSlot() || x[0].GetState() != "parked" || x[0].GetBytes() != batch ||
		x[0].GetRows() != 10 {
		t.Errorf("%v", x)
	}
	if p := s.GetProducerList(); len(p) != 2 || p[0].GetRole() != "open" || p[0].GetTransactionalId() != "id-1" || p[1].GetRole() != "warm" ||
		p[1].GetQueueBytes() != queue {
		t.Errorf("%v", p)
	}
	if m := s.GetMemory(); m.GetParkedBytes() != batch || m.GetTableBytes() == 0 || m.GetDifferences() != 0 {
		t.Errorf("%v", m)
	}
}

// TestAnOrphanIsShownUntilItIsLetGo: the client's process lives on and keeps its segment mapped.
func TestAnOrphanIsShownUntilItIsLetGo(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	c.MustLease()
	c.HangUp()
	daemontest.Eventually(t, "the segment and the table are orphans", func() bool {
		m := r.app.Status().GetMemory()
		return m.GetOrphanSegments() == 2 && m.GetOrphanBytes() > mib && m.GetLeasedBytes() == 0
	})
	if usage := r.app.ledger.Usage(); len(usage) != 0 {
		t.Errorf("the account of an ended session: %+v", usage)
	}
	c.Kill()
	r.requireNothingHeld()
}

// TestTheBooksAreCompared: nothing of the daemon can make them differ, a client can, and that is an alarm. It is told once.
func TestTheBooksAreCompared(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	fd := c.KeepDescriptor()
	c.MustLease()
	auditor := &auditor{app: r.app, last: map[difference]int{}}
	auditor.round()
	auditor.round()
	if m := r.app.Status().GetMemory(); m.GetDifferences() != 0 || m.GetDifferenceBytes() != 0 {
		t.Fatalf("books of a daemon at rest: %v", m)
	}
	if err := unix.Fallocate(*fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 8192, 4096); err != nil {
		t.Fatal(err)
	}
	slot := c.Welcome.GetFirstSlot()
	c.Table.SetWord(slot, shm.MakeWord(5, shm.Claimed, shm.Daemon))
	for range 3 {
		auditor.round()
	}
	if m := r.app.Status().GetMemory(); m.GetDifferences() != 2 || m.GetDifferenceBytes() != 4096 {
		t.Errorf("a hole and a scribbled slot: %v", m)
	}
}

// TestAWriterThatDoesNotFitIsDenied: by the numbers, before a producer is made, and another one goes on.
func TestAWriterThatDoesNotFitIsDenied(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Arena.GrantWait = config.Duration(50 * time.Millisecond) })
	c := r.poor("p", mib+queue+buffer)
	first := daemontest.NewWriter(t, r.api(), openRequest(c))
	first.Opened()
	second := daemontest.NewWriter(t, r.api(), openRequest(c))
	refused := second.Failure()
	for _, part := range []string{"Sink: test, subtask 1, attempt 2", "producer_queue", memctl.BudgetSetting, "properties.buffer.memory", "are kept for other"} {
		if refused.GetKind() != pb.ErrorKind_DENIED || !strings.Contains(refused.GetMessage(), part) {
			t.Errorf("%q is not in %v", part, refused)
		}
	}
	first.Begin(1, "id-1")
	// There is no room for a warm producer; the epochs go on without it.
	first.Send(&pb.WriteRequest{Request: &pb.WriteRequest_Warm{Warm: &pb.WarmEpoch{TransactionalId: "id-2"}}})
	first.Submit(1, c.Park(c.MustLease(), shm.SegmentHeaderBytes, daemontest.Rows(1, 0, 10)))
	first.Seal(1, 10)
	if begun := first.Begin(2, "id-2"); begun.GetWarm() {
		t.Error("a warm producer without memory for it")
	}
	r.requireReserved("all of it", memctl.Amounts{memctl.Lease: mib, memctl.EncodeBuffer: buffer, memctl.ProducerQueue: queue})
}

// TestAWriterWaitsForTheOneBefore: after a failover the new attempt opens while the producer of the old one is being destroyed.
func TestAWriterWaitsForTheOneBefore(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Arena.GrantWait = config.Duration(10 * time.Second) })
	c := r.poor("p", mib+queue+buffer)
	old := daemontest.NewWriter(t, r.api(), openRequest(c))
	old.Opened()
	next := daemontest.NewWriter(t, r.api(), openRequest(c))
	daemontest.Eventually(t, "the new writer waits", func() bool { return r.app.ledger.Usage()[0].Waits == 1 })
	old.Cancel()
	next.Opened()
	r.requireReserved("one writer", memctl.Amounts{memctl.EncodeBuffer: buffer})
}

// TestIdleSegmentsComeBackUnderPressure: a session that uses nothing of its segments returns them when a writer of another needs room.
func TestIdleSegmentsComeBackUnderPressure(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Arena.GrantWait = config.Duration(10 * time.Second) })
	idle, busy := r.poor("p", 8*mib), r.poor("p", 8*mib)
	segments := []*shmtest.Segment{idle.MustLease(), idle.MustLease(), idle.MustLease()}
	before := idle.Table.Pressure()
	w := daemontest.NewWriter(t, r.api(), openRequest(busy)) // its minimum of 6 MiB, beside 3 MiB of leases and a segment kept for busy
	daemontest.Eventually(t, "the idle session is asked", func() bool { return idle.Table.Pressure() != before })
	for _, segment := range segments[1:] {
		id := segment.ID()
		idle.Unmap(segment)
		if refused := idle.Return(id); refused != nil {
			t.Fatal(refused)
		}
	}
	w.Opened()
	if u := r.app.ledger.Usage()[0]; u.Waits != 1 || u.Denied != 0 || r.app.counters.Pressed.Load() == 0 {
		t.Errorf("%+v, %d sessions asked", u, r.app.counters.Pressed.Load())
	}
}

// TestEveryOwnerGetsItsMinimum: one session takes all that floats, and the writers and sessions that are in still work.
func TestEveryOwnerGetsItsMinimum(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) {
		c.Arena.GrantWait, c.Arena.Capacity = config.Duration(20*time.Millisecond), 64*config.MiB
	})
	greedy, modest := r.poor("p", 20*mib), r.poor("p", 20*mib)
	w := daemontest.NewWriter(t, r.api(), openRequest(modest))
	w.Opened()
	leases := 0
	for ; ; leases++ {
		if _, refused := greedy.Lease(); refused != nil {
			for _, part := range []string{"session 1", "are kept for other consumers", memctl.BudgetSetting} {
				if refused.GetKind() != pb.ErrorKind_DENIED || !strings.Contains(refused.GetMessage(), part) {
					t.Errorf("%q is not in %v", part, refused)
				}
			}
			break
		}
	}
	if leases != 13 { // 20, less a queue, a buffer and the other session's segment
		t.Errorf("%d leases, want 13", leases)
	}
	w.Begin(1, "id-1")
	w.Submit(1, modest.Park(modest.MustLease(), shm.SegmentHeaderBytes, daemontest.Rows(1, 0, 10)))
	w.Seal(1, 10)
}

// TestProgressReportsTheAccount: the client's gauges show what the books have, also when only another writer has moved it.
func TestProgressReportsTheAccount(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	w := daemontest.NewWriter(t, r.api(), openRequest(c))
	w.Opened()
	c.MustLease()
	kept := c.MustLease() // given back to the daemon and not to the kernel
	if refused := c.Return(kept.ID()); refused != nil {
		t.Fatal(refused)
	}
	other := daemontest.NewWriter(t, r.api(), openRequest(c))
	other.Opened()
	stranger := r.client("q")
	stranger.MustLease()
	stranger.HangUp()
	daemontest.Eventually(t, "the other process to be gone", func() bool { return len(r.app.ledger.Usage()) == 1 })
	if all := r.app.Status().GetMemory().GetOrphanBytes(); all <= 2*mib {
		t.Fatalf("%d orphan bytes, want a segment of this process, and a segment and a table of the stranger", all)
	}
	usage := r.app.ledger.Usage()[0]
	if usage.Reserved <= 2*buffer {
		t.Fatalf("%d bytes are reserved, no more than the buffers of two writers", usage.Reserved)
	}
	var last *pb.AccountReport
	daemontest.Eventually(t, "the report of the whole process", func() bool {
		last = w.Progress().GetAccount()
		return last.GetReservedBytes() == usage.Reserved && last.GetOrphanBytes() != 0
	})
	want := &pb.AccountReport{CapacityBytes: usage.Capacity, ReservedBytes: usage.Reserved, AvailableBytes: usage.Available,
		PeakBytes: usage.Peak, StateBytes: 2 * buffer, OrphanBytes: mib}
	if !proto.Equal(last, want) {
		t.Errorf("the report is %v, want %v", last, want)
	}
}

// TestSessionOfAnotherLifeIsForeign: a daemon that was restarted numbers its sessions from 1 again, but does not take an old token.
func TestSessionOfAnotherLifeIsForeign(t *testing.T) {
	old := start(t, kafkatest.Faults{}, nil)
	stale := openRequest(old.client("p"))
	r := start(t, kafkatest.Faults{}, nil)
	c := r.client("p")
	if c.Welcome.GetSessionId() != stale.GetSessionId() {
		t.Fatalf("session %d, want the number of the old one, %d", c.Welcome.GetSessionId(), stale.GetSessionId())
	}
	w := daemontest.NewWriter(t, r.api(), stale)
	if failed := w.NextAny().GetFailed(); failed.GetError().GetKind() != pb.ErrorKind_FOREIGN_HANDLE {
		t.Errorf("a token of another life got %v", failed)
	}
	if got := r.app.Status().GetCounters().GetForeignHandles(); got != 1 {
		t.Errorf("%d foreign handles are counted, want 1", got)
	}
}
