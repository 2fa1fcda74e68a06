package session_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/daemon/session"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/encode"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
)

const segmentBytes = 256 << 10

// fixture is a session server on a socket of its own.
type fixture struct {
	t        *testing.T
	path     string
	server   *session.Server
	arena    *shm.Arena
	ledger   *memctl.Ledger
	counters *telemetry.Counters
}

func start(t *testing.T, change func(*session.Options)) *fixture {
	t.Helper()
	arena, err := shm.NewArena(shm.Config{Capacity: 2 << 20, SegmentBytes: segmentBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(arena.Close)
	o := session.Options{
		Arena: arena, Ledger: memctl.NewLedger(), SlotsPerSession: 16, MaxSessions: 3, HelloTimeout: daemontest.Deadline,
		ReplyTimeout: daemontest.Deadline, Leased: func() {}, Version: "v-test", Counters: telemetry.NewCounters(),
		Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	f := &fixture{t, filepath.Join(t.TempDir(), "session.sock"), session.NewServer(o), arena, o.Ledger, o.Counters}
	listener, err := net.Listen("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		bound, cancel := context.WithTimeout(context.Background(), daemontest.Deadline)
		defer cancel()
		if err := f.server.Close(bound); err != nil {
			t.Error(err)
		}
		f.requireNothingHeld()
	})
	return f
}

func (f *fixture) stats() shm.Stats {
	f.t.Helper()
	s, err := f.arena.Stats()
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *fixture) requireNothingHeld() {
	f.t.Helper()
	daemontest.Eventually(f.t, "everything is given back", func() bool {
		f.arena.Sweep()
		s := f.stats()
		return f.server.Count() == 0 && s.Leased == 0 && s.Tables == 0 && s.Kernel == s.Warm && len(f.ledger.Usage()) == 0
	})
}

func requireRefusal(t *testing.T, refused *pb.Error, kind pb.ErrorKind, wants ...string) {
	t.Helper()
	if refused == nil {
		t.Fatalf("accepted, want a refusal with %q", wants)
	}
	if refused.GetKind() != kind {
		t.Errorf("refused with %v, want %v", refused, kind)
	}
	for _, want := range wants {
		if !strings.Contains(refused.GetMessage(), want) {
			t.Errorf("%q does not say %q", refused.GetMessage(), want)
		}
	}
}

func TestHelloRefusals(t *testing.T) {
	f := start(t, nil)
	refused := uint64(0)
	for name, test := range map[string]struct {
		change func(*pb.Hello)
		kind   pb.ErrorKind
		wants  []string
	}{
		"newer protocol": {func(h *pb.Hello) { h.ProtocolMin, h.ProtocolMax = 2, 3 }, pb.ErrorKind_FALL_BACK,
			[]string{"the client speaks versions 2 to 3 and penstockd 1 to 1"}},
		"no protocol": {func(h *pb.Hello) { h.ProtocolMin, h.ProtocolMax = 0, 0 }, pb.ErrorKind_FALL_BACK,
			[]string{"versions 0 to 0"}},
		"layout": {func(h *pb.Hello) { h.LayoutHash = 0x1234 }, pb.ErrorKind_FALL_BACK,
			[]string{"shared-memory layout: the client has 0x0000000000001234 and penstockd 0x"}},
		"flink":   {func(h *pb.Hello) { h.FlinkVersion = "2.4.0" }, pb.ErrorKind_FALL_BACK, []string{`Flink "2.4.0"`, "2.0, 2.1, 2.2, 2.3"}},
		"jackson": {func(h *pb.Hello) { h.JacksonVersion = "2.19.0" }, pb.ErrorKind_FALL_BACK, []string{`Flink 2.2.1 with the shaded Jackson "2.19.0"`, "2.18.2 only"}},
		"old jvm": {func(h *pb.Hello) { h.JvmFeatureVersion = 11 }, pb.ErrorKind_FALL_BACK, []string{"version 11", "17 to 25"}},
		"new jvm": {func(h *pb.Hello) { h.JvmFeatureVersion = 26 }, pb.ErrorKind_FALL_BACK, []string{"version 26", "17 to 25"}},
		"budget": {func(h *pb.Hello) { h.BudgetBytes = 0 }, pb.ErrorKind_DENIED,
			[]string{"taskmanager.memory.task.off-heap.size = 0", "set it"}},
		"process": {func(h *pb.Hello) { h.ProcessId = nil }, pb.ErrorKind_BAD_REQUEST, []string{"Hello.process_id has 0 bytes"}},
		"floats": {func(h *pb.Hello) { h.FloatProbe[3] = "1.5" }, pb.ErrorKind_FALL_BACK,
			[]string{"the spelling of FLOAT and DOUBLE by JVM 17"}},
		"no floats": {func(h *pb.Hello) { h.FloatProbe = nil }, pb.ErrorKind_FALL_BACK, []string{"FLOAT and DOUBLE"}},
	} {
		t.Run(name, func(t *testing.T) {
			hello := daemontest.Hello("p1")
			test.change(hello)
			c := daemontest.Dial(t, f.path)
			requireRefusal(t, c.Greet(hello), test.kind, test.wants...)
			if _, _, err := c.Receive(); err == nil {
				t.Error("the connection stays open after the refusal")
			}
			refused++
			if got := f.counters.SessionsRefused.Load(); got != refused {
				t.Errorf("%d sessions refused, want %d", got, refused)
			}
		})
	}
}

func TestWelcome(t *testing.T) {
	f := start(t, nil)
	c := daemontest.Open(t, f.path, "p1")
	w := c.Welcome
	if w.GetProtocol() != 1 || w.GetArenaId() != f.arena.ID() || w.GetSessionId() == 0 || len(w.GetToken()) != 16 ||
		w.GetSlotCount() != 16 || w.GetMaxBatchBytes() != segmentBytes-4096 || w.GetDaemonVersion() != "v-test" {
		t.Errorf("welcome %v", w)
	}
	if c.Table.First() != w.GetFirstSlot() || c.Table.Count() != w.GetSlotCount() || c.Table.ArenaID() != w.GetArenaId() ||
		c.Table.ID() != w.GetTableSegmentId() {
		t.Error("the table's header and Welcome differ")
	}
	other := daemontest.Open(t, f.path, "p1")
	if string(other.Welcome.GetToken()) == string(w.GetToken()) || other.Welcome.GetFirstSlot() == w.GetFirstSlot() {
		t.Error("two sessions share a token or slots")
	}

	for spelling, jvm := range map[encode.FloatSpelling]uint32{encode.FloatsLegacy: 17, encode.FloatsShortest: 21} {
		hello := daemontest.Hello("p2")
		hello.JvmFeatureVersion, hello.FloatProbe = jvm, encode.ProbeText(spelling)
		c := daemontest.Dial(t, f.path)
		if refused := c.Greet(hello); refused != nil {
			t.Fatalf("refused: %v", refused)
		}
		found, err := f.server.Authenticate(c.Welcome.GetSessionId(), c.Welcome.GetToken())
		if err != nil || found.Dialect() != (encode.Dialect{Line: encode.Line22, Floats: spelling}) {
			t.Errorf("JVM %d: %+v, %v; want %v and Flink 2.2", jvm, found.Dialect(), err, spelling)
		}
		c.Kill()
		daemontest.Eventually(t, "the session ends", func() bool { return f.server.Count() == 2 })
	}
}

func TestSessionLimit(t *testing.T) {
	f := start(t, nil)
	for range 3 {
		daemontest.Open(t, f.path, "p1")
	}
	requireRefusal(t, daemontest.Dial(t, f.path).Greet(daemontest.Hello("p1")), pb.ErrorKind_FALL_BACK, "session.max_sessions = 3")
}

func TestLeaseAndReturn(t *testing.T) {
	f := start(t, nil)
	c := daemontest.Open(t, f.path, "p1")
	first, second := c.MustLease(), c.MustLease()
	if first.ID() == second.ID() || first.ArenaID() != f.arena.ID() {
		t.Error("two leases are one segment, or of another arena")
	}
	if got := f.stats().Leased; got != 2*segmentBytes {
		t.Errorf("%d bytes leased", got)
	}
	if refused := c.Return(first.ID()); refused != nil {
		t.Fatal(refused)
	}
	if got := f.ledger.Usage()[0].Reserved; got != segmentBytes {
		t.Errorf("%d bytes reserved after the return, want one segment", got)
	}
	requireRefusal(t, c.Return(first.ID()), pb.ErrorKind_FOREIGN_HANDLE, "is not leased to this session")
	other := daemontest.Open(t, f.path, "p2")
	requireRefusal(t, other.Return(second.ID()), pb.ErrorKind_FOREIGN_HANDLE, "is not leased to this session")
	c.Kill()
	daemontest.Eventually(t, "the dead session's segment is gone", func() bool { return f.stats().Leased == 0 })
	other.MustLease()
}

func TestBudgetIsOfTheProcess(t *testing.T) {
	f := start(t, nil)
	hello := daemontest.Hello("p1")
	hello.BudgetBytes = 2 * segmentBytes
	a, b := daemontest.Dial(t, f.path), daemontest.Dial(t, f.path)
	for _, c := range []*daemontest.Client{a, b} {
		if refused := c.Greet(hello); refused != nil {
			t.Fatal(refused)
		}
	}
	a.MustLease()
	kept := b.MustLease()
	_, refused := a.Lease()
	requireRefusal(t, refused, pb.ErrorKind_DENIED, "taskmanager.memory.task.off-heap.size", `"test"`)
	if got := f.counters.LeasesDenied.Load(); got != 1 {
		t.Errorf("%d leases denied", got)
	}
	// Each session has one segment that the other cannot take.
	if refused := b.Return(kept.ID()); refused != nil {
		t.Fatal(refused)
	}
	_, refused = a.Lease()
	requireRefusal(t, refused, pb.ErrorKind_DENIED, "are kept for other consumers")
	b.MustLease()
	b.Kill()
	daemontest.Eventually(t, "the other session ends", func() bool { return f.server.Count() == 1 })
	a.MustLease()

	hello.BudgetBytes++
	requireRefusal(t, daemontest.Dial(t, f.path).Greet(hello), pb.ErrorKind_BAD_REQUEST, "one value for the process")
}

func TestArenaThatIsFull(t *testing.T) {
	f := start(t, nil)
	c := daemontest.Open(t, f.path, "p1")
	var refused *pb.Error
	for range 8 {
		if _, refused = c.Lease(); refused != nil {
			break
		}
	}
	requireRefusal(t, refused, pb.ErrorKind_DENIED, "arena")
	if reserved, leased := f.ledger.Usage()[0].Reserved, f.stats().Leased; reserved != uint64(leased) {
		t.Errorf("the account has %d bytes and the arena leased %d", reserved, leased)
	}
}

func TestRevokeEndsWriters(t *testing.T) {
	f := start(t, nil)
	c := daemontest.Open(t, f.path, "p1")
	found, err := f.server.Authenticate(c.Welcome.GetSessionId(), c.Welcome.GetToken())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 2)
	if _, err := found.Join(func() { ended <- "stays" }); err != nil {
		t.Fatal(err)
	}
	leave, err := found.Join(func() { ended <- "left" })
	if err != nil {
		t.Fatal(err)
	}
	leave()
	c.Kill()
	select {
	case who := <-ended:
		if who != "stays" {
			t.Errorf("%s was ended", who)
		}
	case <-time.After(daemontest.Deadline):
		t.Fatal("no writer was ended")
	}
	f.requireNothingHeld()
	if len(ended) != 0 {
		t.Error("a writer that had left was ended")
	}
	if _, err := found.Join(func() {}); err == nil {
		t.Error("a writer joins a dead session")
	}
	if _, err := f.server.Authenticate(c.Welcome.GetSessionId(), c.Welcome.GetToken()); err == nil {
		t.Error("a dead session is found")
	}
}

// TestBatchInHandSurvivesTheSession: what the daemon reads while the client dies stays mapped, and the memory goes afterwards.
func TestBatchInHandSurvivesTheSession(t *testing.T) {
	f := start(t, nil)
	c := daemontest.Open(t, f.path, "p1")
	batch := daemontest.Rows(1, 0, 10)
	submit := c.Park(c.MustLease(), shm.SegmentHeaderBytes, batch)
	found, err := f.server.Authenticate(c.Welcome.GetSessionId(), c.Welcome.GetToken())
	if err != nil {
		t.Fatal(err)
	}
	extent, err := found.Claim(submit.GetSlot(), submit.GetGeneration())
	if err != nil {
		t.Fatal(err)
	}
	c.Kill()
	daemontest.Eventually(t, "the session ends", func() bool { return f.server.Count() == 0 })
	if string(extent.Body) != string(batch.Body) {
		t.Error("the batch changed")
	}
	if err := found.Settle(extent); err == nil {
		t.Error("a batch of a dead session is settled")
	}
	f.requireNothingHeld()
}

func TestProtocolFaultsEndTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		send func(*daemontest.Client)
		want string
	}{
		"hello twice": {func(c *daemontest.Client) {
			_ = session.WriteFrame(c.Conn, &pb.SessionRequest{Request: &pb.SessionRequest_Hello{Hello: daemontest.Hello("p1")}})
		}, "not allowed after Hello"},
		"no request": {func(c *daemontest.Client) { _ = session.WriteFrame(c.Conn, &pb.SessionRequest{}) }, "not allowed after Hello"},
		"huge frame": {func(c *daemontest.Client) { c.Conn.Write([]byte{0xff, 0xff, 0xff, 0xff}) }, ""},
		"garbage":    {func(c *daemontest.Client) { c.Conn.Write([]byte{3, 0, 0, 0, 0xff, 0xff, 0xff}) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, nil)
			c := daemontest.Open(t, f.path, "p1")
			c.MustLease()
			test.send(c)
			reply, _, err := c.Receive()
			if test.want != "" {
				if err != nil {
					t.Fatal(err)
				}
				requireRefusal(t, reply.GetRefused(), pb.ErrorKind_BAD_REQUEST, test.want)
				_, _, err = c.Receive()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ends with %v, want EOF", err)
			}
			c.Kill()
			f.requireNothingHeld()
		})
	}
}

func TestSilentAndSlowClients(t *testing.T) {
	f := start(t, func(o *session.Options) { o.HelloTimeout, o.ReplyTimeout = 50*time.Millisecond, 50*time.Millisecond })
	silent := daemontest.Dial(t, f.path)
	reply, _, err := silent.Receive()
	if err != nil {
		t.Fatal(err)
	}
	requireRefusal(t, reply.GetRefused(), pb.ErrorKind_BAD_REQUEST, "session.hello_timeout = 50ms")

	early := daemontest.Dial(t, f.path)
	reply, _ = early.Ask(&pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{}}})
	requireRefusal(t, reply.GetRefused(), pb.ErrorKind_BAD_REQUEST, "must be Hello")

	half := daemontest.Open(t, f.path, "p1")
	half.Conn.Write([]byte{9, 0, 0, 0, 1})
	if _, _, err := half.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("half a frame ends with %v, want EOF", err)
	}
}

// TestManySessionsAtOnce opens, leases and dies concurrently; what remains must be nothing.
func TestManySessionsAtOnce(t *testing.T) {
	f := start(t, func(o *session.Options) { o.MaxSessions = 100 })
	done := make(chan struct{})
	const clients = 8
	for range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 10 {
				conn, err := net.Dial("unix", f.path)
				if err != nil {
					t.Error(err)
					return
				}
				_ = session.WriteFrame(conn, &pb.SessionRequest{Request: &pb.SessionRequest_Hello{Hello: daemontest.Hello("p")}})
				_ = session.WriteFrame(conn, &pb.SessionRequest{Request: &pb.SessionRequest_Lease{Lease: &pb.LeaseRequest{}}})
				conn.Close()
			}
		}()
	}
	for range clients {
		<-done
	}
	daemontest.Eventually(t, "every connection is over", func() bool { return f.server.Connections() == 0 })
	f.requireNothingHeld()
}
