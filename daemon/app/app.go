package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"penstock.dev/penstock/daemon/cgroup"
	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/faultpoint"
	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/daemon/pipeline"
	"penstock.dev/penstock/daemon/server"
	"penstock.dev/penstock/daemon/session"
	"penstock.dev/penstock/daemon/telemetry"
	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/spill"
)

// Engine is a producer engine with a life of its own, as rdkafka.Engine.
type Engine interface {
	producer.Engine
	// Producers is the number of producers that exist.
	Producers() int64
	// Close waits until every producer is destroyed or ctx ends.
	Close(ctx context.Context) error
}

// App is one daemon.
type App struct {
	config   *config.Config
	log      *slog.Logger
	engine   Engine
	started  time.Time
	counters *telemetry.Counters

	arena *shm.Arena
	// spill is nil while it is off.
	spill    *spill.Store
	ledger   *memctl.Ledger
	sessions *session.Server
	sink     *server.Sink
	grpc     *server.Server
	metrics  *telemetry.Endpoint

	sessionSocket, apiSocket *listen.Socket

	// serving is true between ready and the begin of draining.
	serving atomic.Bool
	// leased wakes the task that fills the warm pool.
	leased chan struct{}
	// orphaned wakes the task that sweeps orphans.
	orphaned chan struct{}
}

// New builds a daemon from a checked configuration and binds its sockets; nothing is accepted before Run. Every error names
// what to do. When New fails, nothing is left behind; the engine stays the caller's until New succeeds.
func New(c *config.Config, engine Engine, log *slog.Logger) (_ *App, err error) {
	debug.SetMemoryLimit(int64(c.Process.GoMemoryLimit))
	ensureProcs()
	a := &App{config: c, log: log, engine: engine, started: time.Now(), counters: telemetry.NewCounters(), leased: make(chan struct{}, 1),
		orphaned: make(chan struct{}, 1),
		ledger:   memctl.NewLedger()}
	defer func() {
		if err != nil {
			a.closeSockets()
			if a.arena != nil {
				a.arena.Close()
			}
			ctx, cancel := context.WithTimeout(context.Background(), c.Process.StopTimeout.Std())
			defer cancel()
			err = errors.Join(err, a.closeSpill(ctx))
		}
	}()
	inheritance, err := listen.Inherit(shm.KeptPrefix)
	if err != nil {
		return nil, err
	}
	defer inheritance.Close()
	if err := a.bind(inheritance); err != nil {
		return nil, err
	}
	keeper := newKeeper(log, int64(c.Arena.Capacity/c.Arena.Segment))
	a.arena, err = shm.NewArena(shm.Config{
		Capacity: int64(c.Arena.Capacity), SegmentBytes: int64(c.Arena.Segment), WarmSegments: int(c.Arena.WarmSegments),
		Headroom: a.headroom(),
		Orphaned: func() { wake(a.orphaned) },
		Keeper:   keeper,
	})
	if err != nil {
		return nil, err
	}
	a.adopt(inheritance.Kept(), keeper)
	if err := a.openSpill(); err != nil {
		return nil, err
	}
	a.build()
	if c.Metrics.Listen != "" {
		a.metrics, err = telemetry.NewEndpoint(c.Metrics.Listen, telemetry.NewCollector(a.Status, a.counters))
	}
	return a, err
}

// headroom asks this process's memory controller; nil when there is none.
func (a *App) headroom() func() (int64, string, bool) {
	memory, err := cgroup.Own()
	if err != nil {
		a.log.Debug("no memory controller", telemetry.FieldError, err)
		return nil
	}
	need := int64(a.config.Arena.Capacity) + int64(a.config.Process.GoMemoryLimit)
	if room, group, known := memory.Headroom(); known && need > room {
		a.log.Warn("the arena and the heap may outgrow the memory limit of this process; then leases are denied. Raise the limit, or lower "+
			"arena.capacity or process.go_memory_limit", telemetry.FieldNeeded, need, telemetry.FieldRoom, room, telemetry.FieldGroup, group)
	}
	return memory.Headroom
}

func (a *App) bind(inheritance *listen.Inheritance) (err error) {
	l := &a.config.Listen
	if err := listen.PrepareFolder(l.Directory, os.FileMode(l.DirectoryMode)); err != nil {
		return err
	}
	if a.sessionSocket, err = inheritance.Bind(l.SessionPath(), os.FileMode(l.SocketMode)); err != nil {
		return err
	}
	if a.apiSocket, err = inheritance.Bind(l.APIPath(), os.FileMode(l.SocketMode)); err != nil {
		return err
	}
	return inheritance.Finish()
}

func (a *App) closeSockets() {
	for _, s := range []*listen.Socket{a.sessionSocket, a.apiSocket} {
		if s != nil {
			s.Close()
		}
	}
}

func (a *App) build() {
	c := a.config
	a.sessions = session.NewServer(session.Options{
		Arena:           a.arena,
		Ledger:          a.ledger,
		SlotsPerSession: uint32(c.Arena.SlotsPerSession),
		MaxSessions:     int(c.Session.MaxSessions),
		HelloTimeout:    c.Session.HelloTimeout.Std(),
		ReplyTimeout:    c.Session.ReplyTimeout.Std(),
		MemoryWait:      c.Arena.GrantWait.Std(),
		Leased:          a.wakeWarm,
		Version:         Version(),
		Counters:        a.counters,
		Log:             a.log,
	})
	a.ledger.AddReliever(a.sessions)
	a.sink = server.NewSink(server.SinkOptions{
		Sessions: a.sessions,
		Engine:   faultpoint.Engine(a.engine),
		Disk:     a.disk(),
		Limits: pipeline.Limits{
			CreditBytes: int64(c.Writer.Credit),
			InFlight:    c.Writer.InFlightTime.Std(),
			Init:        c.Writer.InitTimeout.Std(),
			Produce:     c.Writer.ProduceTimeout.Std(),
			Seal:        c.Writer.SealTimeout.Std(),
			Abort:       c.Writer.AbortTimeout.Std(),
			Memory:      c.Arena.GrantWait.Std(),
		},
		OpenTimeout:      c.Writer.OpenTimeout.Std(),
		ProgressInterval: c.Writer.ProgressInterval.Std(),
		MaxWriters:       int(c.Writer.MaxWriters),
		Counters:         a.counters,
		Log:              a.log,
	})
	a.grpc = server.New(a.sink, a.Status, a.StatusWithSlots, a.log)
}

// Run serves until the first signal and then drains, or until a task fails. ctx ends everything at once. It returns nil after
// an orderly end.
func (a *App) Run(ctx context.Context, signals <-chan os.Signal) error {
	uids, gids := a.config.Listen.Peers()
	allow := listen.AllowList{UIDs: uids, GIDs: gids}
	sessions := &listen.Guard{Socket: a.sessionSocket, Allow: allow, Refuse: func(conn *net.UnixConn, err error) {
		a.sessions.Refuse(conn, fault.New(pb.ErrorKind_FALL_BACK, "%v", err))
	}}
	api := &listen.Guard{Socket: a.apiSocket, Allow: allow, Refuse: func(_ *net.UnixConn, err error) {
		a.log.Warn("connection refused", telemetry.FieldSocket, a.apiSocket.Path(), telemetry.FieldError, err)
	}}
	tasks := []task{
		{"sessions", func(ctx context.Context) error { return a.untilEnd(ctx, a.sessions.Serve(ctx, sessions)) }},
		{"api", func(ctx context.Context) error { return a.grpc.Serve(ctx, api) }},
		{"warm segments", a.keepWarm},
		{"orphans", a.sweepOrphans},
		{"audit", a.audit},
		{"life", func(ctx context.Context) error { return a.live(ctx, signals) }},
		{"watchdog", a.watch},
	}
	if a.metrics != nil {
		tasks = append(tasks, task{"metrics", a.metrics.Run})
	}
	err := runTasks(ctx, tasks...)
	return errors.Join(err, a.stop())
}

// untilEnd keeps a task that ended well from ending the others: the session socket closes when draining begins.
func (a *App) untilEnd(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// live carries the daemon through its states; its end is the end of the daemon.
func (a *App) live(ctx context.Context, signals <-chan os.Signal) error {
	if err := a.arena.FillWarm(ctx); err != nil {
		return fmt.Errorf("arena.warm_segments = %d of %v: %w", a.config.Arena.WarmSegments, a.config.Arena.Segment, err)
	}
	a.ready()
	select {
	case <-ctx.Done():
		return nil
	case s := <-signals:
		a.drain(ctx, s, signals)
		return nil
	}
}

func (a *App) ready() {
	a.serving.Store(true)
	a.grpc.SetServing(true)
	fields := []any{telemetry.FieldVersion, Version(), telemetry.FieldArena, fmt.Sprintf("%016x", a.arena.ID()),
		telemetry.FieldEngine, a.engine.Name(), telemetry.FieldSessionSocket, a.sessionSocket.Path(),
		telemetry.FieldAPISocket, a.apiSocket.Path()}
	if a.metrics != nil {
		fields = append(fields, telemetry.FieldMetrics, a.metrics.Address())
	}
	a.log.Info("ready", fields...)
	a.tell(notifyReady)
}

// drain takes no new sessions and waits for the last one to end, for the grace time, or for a second signal.
func (a *App) drain(ctx context.Context, s os.Signal, signals <-chan os.Signal) {
	grace := a.config.Process.ShutdownGrace.Std()
	a.serving.Store(false)
	a.grpc.SetServing(false)
	a.sessions.Drain()
	if !a.sessionSocket.Inherited() {
		// The service manager would listen on, and whoever connects would wait for this daemon's end: refusing is better then.
		a.sessionSocket.Close()
	}
	a.tell(notifyStopping)
	a.log.Info("draining", telemetry.FieldSignal, s.String(), telemetry.FieldSessions, a.sessions.Count(), telemetry.FieldGrace, grace)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-a.sessions.Empty():
	case <-timer.C:
		a.log.Warn("the grace time is over; ending what is left", telemetry.FieldSessions, a.sessions.Count())
	case <-signals:
		a.log.Warn("second signal; ending what is left", telemetry.FieldSessions, a.sessions.Count())
	case <-ctx.Done():
	}
}

func (a *App) tell(state string) {
	if err := notify(state); err != nil {
		a.log.Warn("the service manager was not told", telemetry.FieldError, err)
	}
}

// stop takes the daemon down, in the order in which parts use each other. stop_timeout bounds it as a whole.
func (a *App) stop() error {
	a.serving.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), a.config.Process.StopTimeout.Std())
	defer cancel()
	a.closeSockets()
	err := errors.Join(a.sessions.Close(ctx), a.grpc.Stop(ctx), a.engine.Close(ctx), a.closeSpill(ctx))
	a.arena.Close()
	if err == nil {
		a.log.Info("stopped")
	}
	return err
}

func (a *App) wakeWarm() { wake(a.leased) }

// wake never blocks: one pending wake-up is enough.
func wake(task chan struct{}) {
	select {
	case task <- struct{}{}:
	default:
	}
}

// keepWarm fills the warm pool up after leases, so that the next lease does not wait for the kernel.
func (a *App) keepWarm(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.leased:
		}
		if err := a.arena.FillWarm(ctx); err != nil && ctx.Err() == nil {
			// Leases still work, and are refused with a reason when memory is really short.
			a.log.Warn("the warm pool cannot be filled", telemetry.FieldError, err)
		}
	}
}
