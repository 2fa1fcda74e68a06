// Package kafkatest has a producer engine without a broker, with faults to order, for tests of what runs on an engine.
//
// It checks its caller: every use of a producer after it was consumed, every second initialisation of a sealed id, and
// every producer that is left over is reported. It does not encode, partition, or fence.
package kafkatest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// Faults are what an Engine does wrong; set them before use or by Engine.Order. A nil function does nothing wrong.
type Faults struct {
	// InitDelay is how long Init takes; it ends early with the context.
	InitDelay time.Duration
	// InitGate, when set, holds Init until it is closed or the context ends.
	InitGate chan struct{}
	// ProduceGate, when set, holds Produce until it is closed or the context ends: a broker that stands still.
	ProduceGate chan struct{}
	// Init, Begin, Produce, Seal, Flush and Abort fail with what these return; the argument is the transactional id.
	Init, Begin, Produce, Seal, Flush, Abort func(id string) error
	// Async is what Err of an open producer returns.
	Async func(id string) error
	// Validate is the answer to Validate.
	Validate error
}

// Engine is a producer.Engine. Use New.
type Engine struct {
	mu       sync.Mutex
	faults   Faults
	config   producer.Config
	log      []string
	misuses  []string
	live     int
	nextID   int64
	known    map[string]producer.Identity
	sealed   map[string]*Transaction
	inits    int
	maxInits int
}

// Transaction is what was sealed under one id.
type Transaction struct {
	Identity producer.Identity
	Records  []Record
}

// Record is one record as it was produced.
type Record struct {
	Topic string
	// Key and Value are nil for null and not nil for empty ones.
	Key, Value []byte
	// Timestamp may be producer.NoTimestamp.
	Timestamp int64
	Headers   []Header
}

// Header is one header of a Record.
type Header struct{ Key, Value string }

var _ producer.Engine = (*Engine)(nil)

// New makes an engine with the given faults.
func New(f Faults) *Engine {
	return &Engine{faults: f, known: map[string]producer.Identity{}, sealed: map[string]*Transaction{}}
}

// Order replaces the faults.
func (e *Engine) Order(f Faults) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = f
}

// Log is what was done so far, in order: "init a", "begin a", "produce a 3", "seal a 3", "release a", "abort a", ...
func (e *Engine) Log() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.log)
}

// Sealed is the transaction sealed under id, nil when none is.
func (e *Engine) Sealed(id string) *Transaction {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sealed[id]
}

// Config is that of the last Init.
func (e *Engine) Config() producer.Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.config
}

// Live is the number of producers that exist.
func (e *Engine) Live() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live
}

// MaxConcurrentInits is the largest number of Init calls that ran at the same time.
func (e *Engine) MaxConcurrentInits() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.maxInits
}

// Misuses is what callers did wrong, producers that are left over included. A test ends by seeing that it is empty.
func (e *Engine) Misuses() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.misuses)
	if e.live != 0 {
		out = append(out, fmt.Sprintf("%d producers are left over", e.live))
	}
	return out
}

// Name is "fake".
func (e *Engine) Name() string { return "fake" }

// Validate answers Faults.Validate.
func (e *Engine) Validate(producer.Config) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.faults.Validate
}

// note writes one line of the log; mu is held.
func (e *Engine) note(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

func (e *Engine) misuse(format string, args ...any) {
	e.misuses = append(e.misuses, fmt.Sprintf(format, args...))
}

// ordered is the fault, if any, of one call.
func ordered(f func(string) error, id string) error {
	if f == nil {
		return nil
	}
	return f(id)
}

// Init gives a new id epoch 0 and raises the epoch of a known one, as a broker does.
func (e *Engine) Init(ctx context.Context, cfg producer.Config, id string) (producer.Ready, error) {
	f := e.initStarts(cfg, id)
	defer e.initEnds()
	if err := hold(ctx, f); err != nil {
		return nil, producer.Errorf(producer.Retry, "initialising %s: %w", id, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ordered(f.Init, id); err != nil {
		e.note("init %s failed", id)
		return nil, err
	}
	who, ok := e.known[id]
	if ok {
		who.ProducerEpoch++
	} else {
		e.nextID++
		who = producer.Identity{TransactionalID: id, ProducerID: e.nextID}
	}
	e.known[id] = who
	e.live++
	e.note("init %s", id)
	return &ready{life{e: e, id: id}, who}, nil
}

func (e *Engine) initStarts(cfg producer.Config, id string) Faults {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.config = cfg
	if e.sealed[id] != nil {
		e.misuse("init of the sealed id %s", id)
	}
	e.inits++
	e.maxInits = max(e.maxInits, e.inits)
	return e.faults
}

func (e *Engine) initEnds() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inits--
}

func hold(ctx context.Context, f Faults) error {
	if f.InitGate != nil {
		select {
		case <-f.InitGate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.InitDelay == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(f.InitDelay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Fill is Init for each id in turn, without producers.
func (e *Engine) Fill(ctx context.Context, cfg producer.Config, ids []string) error {
	for _, id := range ids {
		r, err := e.Init(ctx, cfg, id)
		if err != nil {
			return err
		}
		r.Discard()
	}
	return nil
}

// OpenPlain opens a producer without transactions; its id in faults and log is "".
func (e *Engine) OpenPlain(ctx context.Context, _ producer.Config) (producer.Plain, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ordered(e.faults.Init, ""); err != nil {
		return nil, err
	}
	e.live++
	e.note("open plain")
	return &plain{producing{life: life{e: e}}}, nil
}
