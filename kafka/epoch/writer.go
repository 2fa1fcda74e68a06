package epoch

import (
	"context"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/lease"
)

// Options configure a Writer.
type Options struct {
	Engine producer.Engine
	Config producer.Config
	// Transactional is true for EXACTLY_ONCE.
	Transactional bool
	// WarmPool false makes Warm do nothing; only for measurements.
	WarmPool bool
	// InitTimeout bounds one initialisation; 0 means Config.MaxBlock.
	InitTimeout time.Duration
	// Owner claims the ids in Owners; a nil Owners knows of no other writer.
	Owner  Owner
	Owners *Owners
	// Warmed, when set, is told of each warm-up that has ended, on the goroutine that did it.
	Warmed func(id string, took time.Duration, err error)
}

// BeginResult says how an epoch came to be open.
type BeginResult struct {
	// Warm: the producer was ready before Begin was called.
	Warm bool
	// InitTime is how long its initialisation took, wherever that was done.
	InitTime time.Duration
}

// SealResult is a proven epoch. With Rows 0 there is nothing to commit, and the Identity is only that of the discarded
// producer.
type SealResult struct {
	Identity producer.Identity
	Rows     int64
	Stats    Stats
}

// Stats are totals of one epoch.
type Stats struct {
	Batches     int64
	Bytes       int64
	ProduceTime time.Duration
	FlushTime   time.Duration
}

// Snapshot is what status output shows of a writer.
type Snapshot struct {
	State           State
	EpochID         uint64
	TransactionalID string
	Rows            int64
	Counters        producer.Counters
	// Begun is when the epoch was opened; zero when none is.
	Begun  time.Time
	Warm   State
	WarmID string
	// Err is why the state is Failed.
	Err error
}

// Writer runs the epochs of one sink writer. Its methods are called by one goroutine, except that State, Err and Counters
// may be called by any. After an error of any method but Warm the writer is failed: only Abort and Close make sense.
type Writer struct {
	o Options

	// initCtx ends initialisations when Close has waited long enough for them.
	initCtx     context.Context
	cancelInits context.CancelFunc
	inits       sync.WaitGroup
	claims      *claims
	// lease bounds when initialisations may be sent; nil without transactions.
	lease *lease.Lease

	// mu guards everything below. It is never held while the network is waited for.
	mu       sync.Mutex
	m        *Machine
	changed  chan struct{} // closed and replaced when the machine has moved
	ready    map[string]readyProducer
	open     producer.Open
	plain    producer.Plain
	sealed   producer.Sealed
	identity producer.Identity
	begun    time.Time
	written  time.Time // when the first row of the open epoch was given to the producer; zero before
	initTime time.Duration
	calm     time.Duration // how long a warm-up waits, see awaitCalm
	lasted   time.Duration // from the beginning of the last epoch until its seal was asked for; 0 before
	stats    Stats
}

// longestCalm is how long a warm-up lets the seals of other subtasks go first; after a short epoch it is a quarter of that one, since the
// next may be as short.
const longestCalm = 100 * time.Millisecond

type readyProducer struct {
	producer.Ready
	took time.Duration
}

// NewWriter makes a writer without any producer; nothing is sent before Warm or Begin. Close it.
func NewWriter(o Options) *Writer {
	if o.InitTimeout == 0 {
		o.InitTimeout = o.Config.MaxBlock
	}
	w := &Writer{
		o:       o,
		m:       NewMachine(o.Transactional),
		changed: make(chan struct{}),
		ready:   map[string]readyProducer{},
	}
	w.initCtx, w.cancelInits = context.WithCancel(context.Background())
	if o.Transactional {
		w.claims = o.Owners.join(o.Owner, w.evicted)
		w.lease = lease.New(lease.Length)
		w.o.Config.Lease = w.lease
	}
	return w
}

// Warm starts the initialisation of id in the background and returns at once. A warm id that is not the one of the next
// Begin is discarded. A warm-up that fails is only told to Options.Warmed: Begin tries again.
func (w *Writer) Warm(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.o.WarmPool {
		return nil
	}
	actions, err := w.m.Warm(id)
	w.run(actions)
	return err
}

// Begin opens epochID with transaction id after filling the gaps, and returns when rows can be produced. Without
// transactions id is empty and gaps are ignored.
func (w *Writer) Begin(ctx context.Context, epochID uint64, id string, gaps []string) (BeginResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, warm := w.ready[id]
	actions, err := w.m.Begin(epochID, id, gaps)
	if err != nil {
		return BeginResult{}, err
	}
	w.stats = Stats{}
	w.run(actions)
	for w.m.state == Warming || w.m.state == Ready {
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			w.run(w.m.Fail(producer.Errorf(producer.FailEpoch, "beginning epoch %d, transaction %q: %w", epochID, id, ctx.Err())))
		}
	}
	if w.m.state == Failed {
		return BeginResult{}, w.m.cause
	}
	w.answers()
	return BeginResult{Warm: warm, InitTime: w.initTime}, nil
}

// answers is called when a request has been dealt with on which later ones depend: those come from a client that is alive, however
// long this process stood still before.
func (w *Writer) answers() {
	if w.lease != nil {
		w.lease.Restart()
	}
}

// evicted makes room for a later attempt of the task: this writer is over, and its initialisations end now.
func (w *Writer) evicted(cause error) {
	w.mu.Lock()
	w.run(w.m.Fail(cause))
	w.mu.Unlock()
	w.cancelInits()
	w.inits.Wait()
	w.claims.leave()
}

// Produce hands every record to the producer or fails the epoch.
func (w *Writer) Produce(ctx context.Context, r *producer.Records) error {
	to, err := w.target("produce")
	if err != nil {
		return err
	}
	start := time.Now()
	w.mu.Lock()
	if w.written.IsZero() {
		w.written = start
	}
	w.mu.Unlock()
	err = to.Produce(ctx, r)
	took := time.Since(start)

	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.tooOld(); old != nil {
		err = old
	}
	if err != nil {
		return w.failed(err)
	}
	w.stats.Batches++
	w.stats.Bytes += int64(r.Size(0, r.Len()))
	w.stats.ProduceTime += took
	return w.m.Produced(int64(r.Len()))
}

// target is what Open and Plain have in common.
type target interface {
	Produce(ctx context.Context, r *producer.Records) error
	Counters() producer.Counters
	Err() error
}

func (w *Writer) target(input string) (target, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.current()
	if t == nil || w.m.state != Open {
		return nil, w.m.illegal(input)
	}
	return t, nil
}

// current is the producer in use, nil when there is none.
func (w *Writer) current() target {
	if w.open != nil {
		return w.open
	}
	if w.plain != nil {
		return w.plain
	}
	return nil
}

// failed moves the machine to Failed and returns the first failure.
func (w *Writer) failed(err error) error {
	w.run(w.m.Fail(err))
	return w.m.cause
}

// Flush proves that the rows since Begin are acknowledged, without ending the epoch. Only for writers without transactions.
func (w *Writer) Flush(ctx context.Context, rows int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	actions, err := w.m.Flush(rows)
	w.run(actions)
	if err != nil {
		return err
	}
	plain := w.plain
	w.mu.Unlock()
	start := time.Now()
	err = plain.Flush(ctx)
	took := time.Since(start)
	w.mu.Lock()
	if err != nil {
		return w.failed(err)
	}
	w.stats.FlushTime += took
	actions, err = w.m.Flushed()
	w.run(actions)
	return err
}

// Seal proves the epoch with the number of rows that Flink handed over, and destroys its producer without ending the
// transaction, which belongs to Flink's committer from then on.
func (w *Writer) Seal(ctx context.Context, rows int64) (SealResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.tooOld(); err != nil {
		return SealResult{}, w.failed(err)
	}
	actions, err := w.m.Seal(rows)
	w.run(actions)
	if err != nil {
		return SealResult{}, err
	}
	w.lasted = time.Since(w.begun)
	if w.m.state == Sealing {
		if err := w.prove(ctx, rows); err != nil {
			return SealResult{}, err
		}
	}
	w.answers()
	return SealResult{Identity: w.identity, Rows: rows, Stats: w.stats}, nil
}

// prove takes the machine from Sealing to Sealed. It gives mu up while it waits, and within the age of the transaction.
func (w *Writer) prove(ctx context.Context, rows int64) error {
	open := w.open
	w.open = nil // consumed by Seal, whatever its outcome
	if until, ok := w.usable(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	w.mu.Unlock()
	start := time.Now()
	sealed, err := open.Seal(ctx, rows)
	took := time.Since(start)
	w.mu.Lock()
	if old := w.tooOld(); old != nil {
		if err == nil {
			sealed.Release()
		}
		err = old
	}
	if err != nil {
		return w.failed(err)
	}
	w.stats.FlushTime += took
	w.calm = min(longestCalm, w.lasted/4)
	actions, err := w.m.SealDone()
	if err != nil {
		sealed.Release() // failed meanwhile
		return err
	}
	w.sealed = sealed
	w.run(actions)
	return nil
}

// Abort gives the open epoch up: its transaction is aborted, bounded by ctx, when it holds rows. Without transactions the
// producer is closed and what it had not delivered is lost.
func (w *Writer) Abort(ctx context.Context) error {
	w.mu.Lock()
	actions, err := w.m.Abort()
	end := w.run(actions)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return end(ctx)
}

// Close ends the writer: an unsealed epoch with rows is aborted, everything unsealed is destroyed. It returns when no
// initialisation of this writer is under way any more, so that none can meet that of the next task attempt; when ctx ends
// they are cut off.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	end := w.run(w.m.End())
	w.mu.Unlock()
	err := end(ctx)

	stop := context.AfterFunc(ctx, w.cancelInits)
	defer stop()
	w.inits.Wait()
	w.cancelInits()
	w.claims.leave()
	if w.lease != nil {
		w.lease.End()
	}
	return err
}

// Err is the first failure, asynchronous ones included; nil while there is none.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.m.cause != nil {
		return w.m.cause
	}
	if err := w.tooOld(); err != nil {
		return err
	}
	if t := w.current(); t != nil {
		return t.Err()
	}
	return nil
}

// Counters are the totals of the producer in use.
func (w *Writer) Counters() producer.Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.current(); t != nil {
		return t.Counters()
	}
	return producer.Counters{}
}

// State is a picture for status output.
func (w *Writer) State() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Snapshot{
		State: w.m.state, EpochID: w.m.epoch, TransactionalID: w.m.id, Rows: w.m.rows,
		Warm: w.m.warm, WarmID: w.m.warmID, Err: w.m.cause,
	}
	if w.m.warm == Idle {
		s.WarmID = ""
	}
	if t := w.current(); t != nil {
		s.Counters, s.Begun = t.Counters(), w.begun
	}
	return s
}
