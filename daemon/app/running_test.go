package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// fakeEngine gives kafkatest's engine the life that App expects.
type fakeEngine struct{ *kafkatest.Engine }

func (e fakeEngine) Producers() int64            { return int64(e.Live()) }
func (e fakeEngine) Close(context.Context) error { return nil }

// running is a daemon in this process.
type running struct {
	t       *testing.T
	app     *App
	config  *config.Config
	engine  *kafkatest.Engine
	signals chan os.Signal
	ended   chan error
	stopped bool
}

// testConfig has small segments, short bounds and sockets in a folder of the test.
func testConfig(t *testing.T) *config.Config {
	c := config.Default()
	c.Listen.Directory = filepath.Join(t.TempDir(), "run")
	c.Arena = config.Arena{Capacity: 8 * config.MiB, Segment: config.MiB, WarmSegments: 2, SlotsPerSession: 64, GrantWait: config.Duration(time.Second)}
	c.Writer.AbortTimeout = config.Duration(2 * time.Second)
	c.Writer.ProgressInterval = config.Duration(10 * time.Millisecond)
	c.Metrics.Listen = ""
	return c
}

// start runs a daemon until the end of the test, which fails when anything is left over.
func start(t *testing.T, faults kafkatest.Faults, change func(*config.Config)) *running {
	t.Helper()
	r := prepare(t, faults, change)
	r.launch(fakeEngine{r.engine})
	return r
}

// prepare makes the configuration and the engine of a daemon that launch starts.
func prepare(t *testing.T, faults kafkatest.Faults, change func(*config.Config)) *running {
	t.Helper()
	c := testConfig(t)
	if change != nil {
		change(c)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return &running{t: t, config: c, engine: kafkatest.New(faults), signals: make(chan os.Signal, 2), ended: make(chan error, 1)}
}

// launch runs the daemon over the engine, which is r.engine or stands before it.
func (r *running) launch(engine Engine) {
	r.t.Helper()
	var err error
	if r.app, err = New(r.config, engine, slog.New(slog.DiscardHandler)); err != nil {
		r.t.Fatal(err)
	}
	go func() { r.ended <- r.app.Run(context.Background(), r.signals) }()
	r.t.Cleanup(r.stop)
	daemontest.Eventually(r.t, "the daemon is ready", r.app.serving.Load)
}

// stop ends the daemon and sees that it ends well and leaves nothing.
func (r *running) stop() {
	if r.stopped {
		return
	}
	r.signals <- syscall.SIGTERM
	r.signals <- syscall.SIGTERM
	if err := r.wait(); err != nil {
		r.t.Errorf("the daemon ended with %v", err)
	}
	if misuses := r.engine.Misuses(); len(misuses) > 0 {
		r.t.Errorf("producers: %v", misuses)
	}
	for _, path := range []string{r.config.Listen.SessionPath(), r.config.Listen.APIPath()} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			r.t.Errorf("%s is left over", path)
		}
	}
}

func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		r.stopped = true
		return err
	case <-time.After(daemontest.Deadline):
		r.t.Fatal("the daemon does not end")
		return nil
	}
}

func (r *running) client(process string) *daemontest.Client {
	r.t.Helper()
	return daemontest.Open(r.t, r.config.Listen.SessionPath(), process)
}

func (r *running) api() *grpc.ClientConn {
	r.t.Helper()
	return daemontest.API(r.t, r.config.Listen.APIPath())
}

// writer opens a writer that is accepted.
func (r *running) writer(c *daemontest.Client, guarantee pb.DeliveryGuarantee) *daemontest.Writer {
	r.t.Helper()
	w := daemontest.NewWriter(r.t, r.api(), daemontest.OpenRequest(c, guarantee))
	w.Opened()
	return w
}

// requireNothingHeld waits until no session, writer, lease or producer is left and the memory is only the warm pool.
func (r *running) requireNothingHeld() {
	r.t.Helper()
	daemontest.Eventually(r.t, "everything is given back", func() bool {
		s := r.app.Status()
		return len(s.GetSessions()) == 0 && len(s.GetWriters()) == 0 && s.GetProducers() == 0 &&
			s.GetMemory().GetLeasedBytes() == 0 && s.GetMemory().GetKernelBytes() == s.GetMemory().GetWarmBytes()
	})
	if usage := r.app.ledger.Usage(); len(usage) != 0 {
		r.t.Errorf("accounts are left over: %+v", usage)
	}
}
