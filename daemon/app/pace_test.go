package app

import (
	"testing"
	"time"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
	"penstock.dev/penstock/kafka/producer/pace"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// learn tells p that the broker took perSecond bytes a second while it had enough to do.
func learn(p *pace.Pace, perSecond int64) {
	m, now := p.Meter(), time.Now()
	for i := range int64(3) {
		m.Observe(now.Add(time.Duration(i)*time.Second), 1+i*perSecond, 1, 1)
	}
}

// nextCredit is that of the next progress in which it is another one than before.
func nextCredit(t *testing.T, w *daemontest.Writer, before uint64) uint64 {
	t.Helper()
	daemontest.Eventually(t, "progress with another credit", func() bool { return w.Progress().GetCreditBytes() != before })
	return w.Progress().GetCreditBytes()
}

// TestTheCreditFollowsTheBroker: the client is told, the status shows, and batches that had to wait are counted.
func TestTheCreditFollowsTheBroker(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Writer.InFlightTime = config.Duration(50 * time.Millisecond) })
	c := r.client("p1")
	data := c.MustLease()
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	p := r.engine.Config().Pace
	if got := r.app.Status().GetWriters()[0].GetInFlightBytes(); got != 0 {
		t.Errorf("%d bytes in flight before anything is known", got)
	}
	learn(p, 40<<20)
	if got, want := nextCredit(t, w, 0), uint64(40<<20)/20/4; got != want {
		t.Errorf("a credit of %d bytes, want %d: a quarter of 50 ms", got, want)
	}
	if got := r.app.Status().GetWriters()[0].GetInFlightBytes(); got != (40<<20)/20 {
		t.Errorf("the status shows %d bytes in flight", got)
	}
	r.engine.Order(kafkatest.Faults{Produce: func(string) error {
		p.Waited()
		return nil
	}})
	w.Submit(1, c.Park(data, dataStart, daemontest.Rows(1, 0, 10)))
	w.Seal(1, 10)
	if got := r.app.Status().GetCounters().GetBatchesPaced(); got != 1 {
		t.Errorf("%d batches were paced, want 1", got)
	}
}

// TestInFlightTimeCanBeTurnedOff.
func TestInFlightTimeCanBeTurnedOff(t *testing.T) {
	r := start(t, kafkatest.Faults{}, func(c *config.Config) { c.Writer.InFlightTime = 0 })
	c := r.client("p1")
	w := r.writer(c, pb.DeliveryGuarantee_EXACTLY_ONCE)
	w.Begin(1, "tx-1")
	if p := r.engine.Config().Pace; p != nil {
		t.Errorf("the producer has a pace: %+v", p)
	}
	w.Seal(1, 0)
}
