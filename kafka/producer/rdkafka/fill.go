package rdkafka

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/access"
)

// fillers is how many ids are initialised at the same time.
const fillers = 16

// Fill initialises ids by bare InitProducerId requests: a producer of librdkafka for each would take half a second. They are under the
// lease like every initialisation, and within ctx and Config.MaxBlock.
func (e *Engine) Fill(ctx context.Context, cfg producer.Config, ids []string) error {
	ctx, cancel := context.WithTimeout(ctx, cfg.MaxBlock)
	defer cancel()
	if err := e.identities.check(ctx, cfg); err != nil {
		return err
	}
	r := newRelay(cfg)
	defer r.close()
	in, err := access.New(cfg.Security)
	if err != nil {
		return err
	}
	options := append(in.OptionsOver(r.pass.Conn), kgo.SeedBrokers(seeds(cfg)...), kgo.ClientID(cfg.ClientID))
	cl, err := kgo.NewClient(options...)
	if err != nil {
		return producer.Errorf(producer.BadRequest, "a client for initialising transactional ids: %w", err)
	}
	defer cl.Close()
	f := filling{engine: e, cfg: cfg, client: cl, access: in, relay: r}
	return f.all(ctx, ids)
}

// filling is one call of Fill.
type filling struct {
	engine *Engine
	cfg    producer.Config
	client *kgo.Client
	access *access.Access
	relay  *relay
}

// all ends with the first failure.
func (f *filling) all(ctx context.Context, ids []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first sync.Once
	var failure error
	next := make(chan string)
	var working sync.WaitGroup
	for range min(fillers, len(ids)) {
		working.Go(func() {
			for id := range next {
				if err := f.one(ctx, id); err != nil {
					first.Do(func() { failure = err })
					cancel()
				}
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	working.Wait()
	return failure
}

// one initialises id, again and again while the answer is that it may go better later.
func (f *filling) one(ctx context.Context, id string) error {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, int32(f.cfg.TransactionTimeout.Milliseconds())
	req.ProducerID, req.ProducerEpoch = -1, -1
	for {
		if ctx.Err() != nil {
			return producer.Errorf(producer.Retry, "initialising %q, the id of a skipped checkpoint: %w", id, ctx.Err())
		}
		resp, err := req.RequestWith(ctx, f.client)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err == nil {
			return nil
		}
		if over := f.relay.over(ctx, id); over != nil {
			return over
		}
		if refusal := f.refusal(ctx, id, err); refusal != nil {
			return refusal
		}
		select {
		case <-ctx.Done():
			return producer.Errorf(producer.Retry, "initialising %q, the id of a skipped checkpoint: %w", id, err)
		case <-time.After(max(f.cfg.RetryBackoff, time.Millisecond)):
		}
	}
}

// refusal is the error for an answer that stays, nil for one that may pass.
func (f *filling) refusal(ctx context.Context, id string, err error) error {
	if refusal := f.access.Refusal(err); refusal != nil {
		return refusal
	}
	switch {
	case errors.Is(err, kerr.InvalidTransactionTimeout):
		return badTransactionTimeout(f.cfg, f.engine.identities.maxTransactionTimeout(ctx, f.cfg))
	case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return mayNotUse(id)
	}
	if e, ok := errors.AsType[*kerr.Error](err); ok && !e.Retriable && e != kerr.ConcurrentTransactions {
		return producer.Errorf(producer.FailEpoch, "initialising %q, the id of a skipped checkpoint: %w", id, err)
	}
	return nil
}
