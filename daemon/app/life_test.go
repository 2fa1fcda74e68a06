package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// deadline is a context that ends a test's calls.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), daemontest.Deadline)
	t.Cleanup(cancel)
	return ctx
}

func (r *running) health() healthpb.HealthCheckResponse_ServingStatus {
	r.t.Helper()
	answer, err := healthpb.NewHealthClient(r.api()).Check(deadline(r.t), &healthpb.HealthCheckRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.GetStatus()
}

func TestSocketsFolderAndMemoryLimit(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Process.GoMemoryLimit = 300 * config.MiB })
	for path, mode := range map[string]os.FileMode{
		r.config.Listen.Directory: 0o750, r.config.Listen.SessionPath(): 0o660, r.config.Listen.APIPath(): 0o660,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v; want %#o", path, info.Mode(), err, mode)
		}
	}
	if got := debug.SetMemoryLimit(-1); got != 300<<20 {
		t.Errorf("the memory limit is %d, want that of the configuration", got)
	}
	if warm := r.app.Status().GetMemory().GetWarmBytes(); warm != 2<<20 {
		t.Errorf("%d bytes are warm when the daemon is ready, want two segments", warm)
	}
}

func TestSecondDaemonIsRefused(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	_, err := New(r.config, fakeEngine{kafkatest.New(kafkatest.Faults{})}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "another penstockd serves") {
		t.Fatalf("got %v", err)
	}
	if got := r.health(); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("the first daemon is %v afterwards", got)
	}
	r.client("p1")
}

func TestHealthReflectionAndStatus(t *testing.T) {
	r := start(t, kafkatest.Faults{}, nil)
	if got := r.health(); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health %v", got)
	}
	stream, err := reflectionpb.NewServerReflectionClient(r.api()).ServerReflectionInfo(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	list := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}
	if err := stream.Send(list); err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range answer.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, want := range []string{"penstock.v1.SinkService", "penstock.v1.DiagnosticsService", "grpc.health.v1.Health"} {
		if !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}

	c := r.client("p1")
	data := c.MustLease()
	c.Park(data, dataStart, daemontest.Rows(1, 0, 3))
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(7, "tx-7")
	status, err := pb.NewDiagnosticsServiceClient(r.api()).GetStatus(deadline(t), &pb.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(status.GetSessions()) != 1 || len(status.GetWriters()) != 1 {
		t.Fatalf("status %v", status)
	}
	s, x := status.GetSessions()[0], status.GetWriters()[0]
	if s.GetClientName() != "tm-p1" || s.GetLeasedSegments() != 1 || s.GetLeasedBytes() != 1<<20 || s.GetSlotsParked() != 1 ||
		s.GetBudgetBytes() != daemontest.Budget || s.GetFlinkVersion() != "2.2.1" || s.GetUid() != uint32(os.Geteuid()) {
		t.Errorf("session %v", s)
	}
	if x.GetEpochState() != "open" || x.GetEpochId() != 7 || x.GetTransactionalId() != "tx-7" || x.GetTaskName() != "Sink: test" ||
		x.GetSubtask() != 1 || x.GetAttempt() != 2 || x.GetTopic() != "topic" {
		t.Errorf("writer %v", x)
	}
	if status.GetProducers() != 1 || !status.GetServing() || status.GetArenaId() != c.Welcome.GetArenaId() {
		t.Errorf("status %v", status)
	}
}

func TestPeersThatAreNotAllowed(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) {
		c.Listen.AllowUIDs, c.Listen.AllowGIDs = []uint32{uint32(os.Geteuid()) + 1}, []uint32{uint32(os.Getegid()) + 1}
	})
	c := daemontest.Dial(t, r.config.Listen.SessionPath())
	reply, _, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	refused := reply.GetRefused()
	if refused.GetKind() != pb.ErrorKind_FALL_BACK || !strings.Contains(refused.GetMessage(), "listen.allow_uids") {
		t.Errorf("got %v", refused)
	}
	conn, err := net.Dial("unix", r.config.Listen.APIPath())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(daemontest.Deadline))
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the api socket answers a stranger: %v", err)
	}
	if got := r.app.counters.SessionsRefused.Load(); got != 1 {
		t.Errorf("%d sessions refused, want 1", got)
	}
}

func TestDrainWaitsForTheLastSession(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Process.ShutdownGrace = config.Duration(time.Minute) })
	c := r.client("p1")
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	r.signals <- syscall.SIGTERM
	daemontest.Eventually(t, "health is NOT_SERVING", func() bool { return r.health() == healthpb.HealthCheckResponse_NOT_SERVING })
	daemontest.Eventually(t, "no new session is taken", func() bool {
		conn, err := net.Dial("unix", r.config.Listen.SessionPath())
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	// The session that is there goes on: lease, produce, seal.
	w.Submit(1, c.Park(c.MustLease(), dataStart, daemontest.Rows(1, 0, 5)))
	w.Seal(1, 5)
	requireValues(t, r.engine.Sealed("tx-1"), 0, 5)
	select {
	case err := <-r.ended:
		t.Fatalf("the daemon left while a session was open: %v", err)
	default:
	}
	c.Kill()
	if err := r.wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}

func TestDrainIsBounded(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Process.ShutdownGrace = config.Duration(50 * time.Millisecond) })
	c := r.client("p1")
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	w.Submit(1, c.Park(c.MustLease(), dataStart, daemontest.Rows(1, 0, 5)))
	daemontest.Eventually(t, "the batch is produced", func() bool { return r.app.counters.Rows.Load() == 5 })
	r.signals <- syscall.SIGTERM
	if err := r.wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	if log := r.engine.Log(); log[len(log)-1] != "abort tx-1" {
		t.Errorf("the engine did %v, want an abort at last", log)
	}
	if _, _, err := c.Receive(); err == nil {
		t.Error("the session is still open")
	}
}

// TestHelloDuringDrain: a connection that was accepted before the signal is refused when it says Hello after it.
func TestHelloDuringDrain(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Process.ShutdownGrace = config.Duration(time.Minute) })
	r.client("p1")
	late := daemontest.Dial(t, r.config.Listen.SessionPath())
	daemontest.Eventually(t, "the late connection is accepted", func() bool { return r.app.sessions.Connections() == 2 })
	r.signals <- syscall.SIGTERM
	daemontest.Eventually(t, "draining", func() bool { return !r.app.serving.Load() && r.health() == healthpb.HealthCheckResponse_NOT_SERVING })
	daemontest.Eventually(t, "sessions are refused", r.app.sessions.Draining)
	if refused := late.Greet(daemontest.Hello("p2")); refused.GetKind() != pb.ErrorKind_FALL_BACK ||
		!strings.Contains(refused.GetMessage(), "shutting down") {
		t.Errorf("got %v", refused)
	}
}

func TestServiceManagerIsTold(t *testing.T) {
	manager := serviceManager(t)
	r := start(t, kafkatest.Faults{}, nil)
	for _, want := range []string{notifyReady, notifyStopping} {
		if message := heard(t, manager, daemontest.Deadline); message != want {
			t.Fatalf("the service manager heard %q, want %q", message, want)
		}
		if want == notifyReady {
			r.signals <- syscall.SIGTERM
		}
	}
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

func TestMetricsAndReadyLine(t *testing.T) {
	c := testConfig(t)
	c.Metrics.Listen = "127.0.0.1:0"
	out := &syncBuffer{}
	app, err := New(c, fakeEngine{kafkatest.New(kafkatest.Faults{})}, telemetry.NewLogger(out, slog.LevelInfo, "text"))
	if err != nil {
		t.Fatal(err)
	}
	signals, ended := make(chan os.Signal, 1), make(chan error, 1)
	go func() { ended <- app.Run(context.Background(), signals) }()
	daemontest.Eventually(t, "the ready line", func() bool { return strings.Contains(out.String(), "msg=ready") })
	client := http.Client{Timeout: daemontest.Deadline}
	reply, err := client.Get("http://" + app.metrics.Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(reply.Body)
	reply.Body.Close()
	if want := telemetry.MetricUp + " 1\n"; !strings.Contains(string(text), want) {
		t.Errorf("no %q in the metrics", want)
	}
	signals <- syscall.SIGTERM
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"msg=draining", "msg=stopped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the log\n%s", want, out.String())
		}
	}
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
