package rdkafka

import (
	"context"

	"penstock.dev/penstock/kafka/producer"
)

// plain is a producer without transactions.
type plain struct{ c *client }

func (p *plain) Produce(ctx context.Context, r *producer.Records) error { return p.c.produce(ctx, r) }

// Flush proves that everything accepted so far is acknowledged.
func (p *plain) Flush(ctx context.Context) error {
	if err := p.c.flush(ctx); err != nil {
		return err
	}
	s := p.c.snapshot()
	if s.Failed != 0 {
		return p.c.causeFault("delivering a record", s.firstFailure)
	}
	if s.Acknowledged != s.Accepted {
		return producer.Errorf(producer.FailEpoch, "of %d accepted rows %d are acknowledged after a flush",
			s.Accepted, s.Acknowledged)
	}
	return nil
}

func (p *plain) Counters() producer.Counters { return p.c.snapshot().Counters }

func (p *plain) Err() error { return p.c.err() }

func (p *plain) Close() { p.c.destroy() }
