package rdkafka

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

// maxDestroying bounds how many producers are torn down at the same time; each occupies an operating system thread, and
// one that hangs (a name look-up, say) must not take all threads with it.
const maxDestroying = 8

// teardownDelay is how long a producer that was given up keeps its threads. Subtasks get a barrier within some milliseconds, and the end of
// one producer (five threads, three connections) must not take the processor from the flushes of the others.
const teardownDelay = 100 * time.Millisecond

// Engine makes librdkafka producers. It is safe for concurrent use.
type Engine struct {
	log        *slog.Logger
	identities *identities
	topics     *topics
	producers  atomic.Int64
	destroying chan struct{}
	closing    context.Context // done when Close has begun
	hurry      context.CancelFunc
}

var _ producer.Engine = (*Engine)(nil)

// New makes an engine, or fails when the linked librdkafka is not the version this package was written against.
func New(log *slog.Logger) (*Engine, error) {
	if err := checkVersion(); err != nil {
		return nil, err
	}
	e := &Engine{
		log:        log,
		identities: newIdentities(),
		topics:     newTopics(),
		destroying: make(chan struct{}, maxDestroying),
	}
	e.closing, e.hurry = context.WithCancel(context.Background())
	return e, nil
}

// Name is the library and its version.
func (e *Engine) Name() string { return "librdkafka " + versionText() }

// Producers is the number of librdkafka producers that exist, those being destroyed included.
func (e *Engine) Producers() int64 { return e.producers.Load() }

// Close waits until every producer is destroyed or ctx ends, and drops the connections of identity look-ups. Producers
// that are still owned by somebody are not touched.
func (e *Engine) Close(ctx context.Context) error {
	e.hurry()
	e.identities.close()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for e.Producers() > 0 {
		select {
		case <-ctx.Done():
			return producer.Errorf(producer.Internal, "%d Kafka producers still exist: %w", e.Producers(), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// Validate reports every option that cannot be mapped, in one error of kind BadRequest.
func (e *Engine) Validate(cfg producer.Config) error {
	_, err := settings(cfg, "")
	return err
}

// Init creates a producer, initialises transactionalID and asks the coordinator for the identity, all within ctx and
// Config.MaxBlock, whichever ends first. When ctx ends, the call returns within half a second.
func (e *Engine) Init(ctx context.Context, cfg producer.Config, transactionalID string) (producer.Ready, error) {
	if transactionalID == "" {
		return nil, producer.Errorf(producer.BadRequest, "the transactional id is empty: set sink.transactional-id-prefix")
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.MaxBlock)
	defer cancel()
	if err := e.identities.check(ctx, cfg); err != nil {
		return nil, err
	}
	c, err := e.newClient(e.fitBatches(ctx, cfg), transactionalID)
	if err != nil {
		return nil, err
	}
	if err := c.initTransactions(ctx); err != nil {
		c.destroy()
		return nil, err
	}
	identity, err := e.identities.lookUp(ctx, cfg, transactionalID)
	if err != nil {
		c.destroy()
		return nil, err
	}
	return &ready{c: c, identity: identity}, nil
}

// OpenPlain creates a producer without transactions. It does not wait for a broker: a broker that is not there shows when
// records are flushed. A protected cluster is asked first whether it lets the client in at all, which takes some seconds at most.
func (e *Engine) OpenPlain(ctx context.Context, cfg producer.Config) (producer.Plain, error) {
	if err := ctx.Err(); err != nil {
		return nil, producer.Errorf(producer.Retry, "opening a Kafka producer: %w", err)
	}
	if err := e.identities.check(ctx, cfg); err != nil {
		return nil, err
	}
	c, err := e.newClient(e.fitBatches(ctx, cfg), "")
	if err != nil {
		return nil, err
	}
	return &plain{c: c}, nil
}
