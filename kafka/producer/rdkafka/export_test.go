package rdkafka

import (
	"context"

	"penstock.dev/penstock/kafka/producer"
)

// ClientIdentity is what librdkafka's statistics have told of the producer's identity so far.
func ClientIdentity(o producer.Open) (id int64, epoch int16, seen bool) {
	s := o.(*open).c.snapshot()
	return s.producerID, s.producerEpoch, s.identitySeen
}

// Pretend makes o believe that the coordinator gave it another identity.
func Pretend(o producer.Open, who producer.Identity) { o.(*open).identity = who }

// InitUnchecked initialises an id by librdkafka alone.
func InitUnchecked(ctx context.Context, e *Engine, cfg producer.Config, id string) error {
	c, err := e.newClient(cfg, id)
	if err != nil {
		return err
	}
	defer c.destroy()
	return c.initTransactions(ctx)
}

// PlainUnchecked writes r by librdkafka alone.
func PlainUnchecked(ctx context.Context, e *Engine, cfg producer.Config, r *producer.Records) error {
	c, err := e.newClient(cfg, "")
	if err != nil {
		return err
	}
	p := &plain{c: c}
	defer p.Close()
	if err := p.Produce(ctx, r); err != nil {
		return err
	}
	return p.Flush(ctx)
}

// Queued is how many records of o are not acknowledged yet.
func Queued(o producer.Open) int { s := o.(*open).c.snapshot(); return int(s.waiting()) }

// AbortBehind lets librdkafka abort the transaction of o, which o does not know.
func AbortBehind(ctx context.Context, o producer.Open) error { return o.(*open).c.abort(ctx) }
