package rdkafka

import (
	"context"

	"penstock.dev/penstock/kafka/producer"
)

// ready is an initialised producer. Only one of Begin and Discard is called, once.
type ready struct {
	c        *client
	identity producer.Identity
}

func (r *ready) Identity() producer.Identity { return r.identity }

// Begin opens the transaction; on error the producer is destroyed.
func (r *ready) Begin() (producer.Open, error) {
	if err := r.c.begin(); err != nil {
		r.c.destroy()
		return nil, err
	}
	return &open{c: r.c, identity: r.identity}, nil
}

func (r *ready) Discard() { r.c.destroy() }

// open is a producer with an open transaction.
type open struct {
	c        *client
	identity producer.Identity
}

func (o *open) Identity() producer.Identity { return o.identity }

func (o *open) Produce(ctx context.Context, r *producer.Records) error { return o.c.produce(ctx, r) }

func (o *open) Counters() producer.Counters { return o.c.snapshot().Counters }

func (o *open) Err() error { return o.c.err() }

// Seal proves the epoch. The deadline is that of ctx and the delivery timeout, after which no record can still arrive.
func (o *open) Seal(ctx context.Context, rows int64) (producer.Sealed, error) {
	if err := o.prove(ctx, rows); err != nil {
		o.c.destroy()
		return nil, err
	}
	return &sealed{c: o.c, identity: o.identity, rows: rows}, nil
}

// prove is the seal rule of kafka.md 4.4; a successful flush alone proves nothing.
func (o *open) prove(ctx context.Context, rows int64) error {
	// Before the flush: rows that were never handed to librdkafka do not come by waiting.
	if got := o.c.snapshot().Accepted; got != rows {
		return producer.Errorf(producer.FailEpoch, "transaction %s: Flink handed over %d rows, the producer accepted %d",
			o.c.id, rows, got)
	}
	if err := o.c.flush(ctx); err != nil {
		return err
	}
	s := o.c.snapshot()
	switch {
	case s.fatal.code != 0:
		return o.c.fault("sealing", s.fatal)
	case s.Failed != 0:
		return o.c.causeFault("delivering a record", s.firstFailure)
	case s.Acknowledged != rows || s.Accepted != rows:
		return producer.Errorf(producer.FailEpoch, "transaction %s: of %d rows %d were accepted, %d acknowledged, %d are still "+
			"under way after the flush", o.c.id, rows, s.Accepted, s.Acknowledged, s.waiting())
	case s.identitySeen && (s.producerID != o.identity.ProducerID || s.producerEpoch != o.identity.ProducerEpoch):
		return producer.Errorf(producer.Fenced, "transaction %s: the coordinator gave producer %d epoch %d, the client produced "+
			"as producer %d epoch %d: another attempt has taken the transactional id over, or another sink or job has the same "+
			"sink.transactional-id-prefix", o.c.id, o.identity.ProducerID,
			o.identity.ProducerEpoch, s.producerID, s.producerEpoch)
	}
	return o.c.healthy()
}

func (o *open) Abort(ctx context.Context) error {
	defer o.c.destroy()
	return o.c.abort(ctx)
}

func (o *open) Discard() { o.c.destroy() }

// sealed has, on purpose, nothing that could end its transaction.
type sealed struct {
	c        *client
	identity producer.Identity
	rows     int64
}

func (s *sealed) Identity() producer.Identity { return s.identity }

func (s *sealed) Rows() int64 { return s.rows }

func (s *sealed) Release() { s.c.destroy() }
