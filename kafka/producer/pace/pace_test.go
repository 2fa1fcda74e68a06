package pace

import (
	"testing"
	"time"
)

const (
	target = 50 * time.Millisecond
	most   = 4 << 20
	mib    = 1 << 20
)

// bench plays a producer whose queue is kept as full as Pace lets it, and a broker with a clock of its own.
type bench struct {
	pace  *Pace
	meter *Meter
	now   time.Time
	acked int64
}

func newBench() *bench {
	p := New(target)
	return &bench{pace: p, meter: p.Meter(), now: time.Unix(1_000_000, 0)}
}

// run lets a broker that takes perSecond bytes, but answers nothing sooner than after latency, work for d in steps of 5 ms.
func (b *bench) run(d time.Duration, perSecond float64, latency time.Duration) {
	const step = 5 * time.Millisecond
	for range d / step {
		waiting := b.pace.Bytes(0, most)
		rate := min(perSecond, float64(waiting)/latency.Seconds())
		b.now = b.now.Add(step)
		b.acked += int64(rate * step.Seconds())
		b.meter.Observe(b.now, b.acked, waiting, waiting)
	}
}

func requireBytes(t *testing.T, p *Pace, low, high int64) {
	t.Helper()
	if got := p.Bytes(0, most); got < low || got > high {
		t.Errorf("%d bytes may wait, want %d to %d", got, low, high)
	}
}

func TestUnknownBoundsNothing(t *testing.T) {
	requireBytes(t, New(target), most, most)
	off := New(0)
	off.Meter().Observe(time.Unix(1, 0), 1, 1, 1)
	off.Waited()
	if off.Waits() != 0 {
		t.Error("a Pace that is off has counted")
	}
	requireBytes(t, off, most, most)
}

func TestBytesAreWhatTheBrokerTakesInTheTarget(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, 20*mib, time.Millisecond)
	requireBytes(t, b.pace, mib*95/100, mib*105/100)
	if got := b.pace.Bytes(target, most); got < 2*mib*95/100 || got > 2*mib*105/100 {
		t.Errorf("with as much slack as target %d may wait, want twice as many", got)
	}
}

// TestLessMayWaitWhenABarrierIsDue.
func TestLessMayWaitWhenABarrierIsDue(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, 80*mib, time.Millisecond)
	at := func(now time.Time) int64 { return b.pace.BytesAt(now, 0, most) }
	all, due := b.pace.Bytes(0, most), b.now.Add(time.Minute)
	if got := at(due); got != all {
		t.Errorf("%d bytes may wait while no barrier is expected, want %d", got, all)
	}
	b.pace.Expect(due)
	for _, off := range []time.Duration{-2 * target, 0, 2 * target} {
		if got := at(due.Add(off)); got < all/4-1 || got > all/4+1 {
			t.Errorf("%v from a barrier %d bytes may wait, want a quarter of %d", off, got, all)
		}
	}
	for _, off := range []time.Duration{-2*target - 1, 2*target + 1} {
		if got := at(due.Add(off)); got != all {
			t.Errorf("%v from a barrier %d bytes may wait, want %d", off, got, all)
		}
	}
	if New(0).BytesAt(due, 0, most) != most {
		t.Error("a Pace that is off bounds something")
	}
}

func TestNearABarrier(t *testing.T) {
	p, due := New(target), time.Unix(1_000_000, 0)
	if p.Near(due) || New(0).Near(due) {
		t.Error("a barrier is near that nobody expects")
	}
	p.Expect(due)
	for off, want := range map[time.Duration]bool{-near - 1: false, -near: true, 0: true, near: true, near + 1: false} {
		if got := p.Near(due.Add(off)); got != want {
			t.Errorf("%v from a barrier it is near: %v, want %v", off, got, want)
		}
	}
}

func TestBoundsHold(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, mib, time.Millisecond)
	requireBytes(t, b.pace, Least, Least)
	b.run(5*time.Second, 1000*mib, time.Millisecond)
	requireBytes(t, b.pace, most, most)
	if got := b.pace.Bytes(0, 1024); got != 1024 {
		t.Errorf("%d may wait where the queue takes 1024", got)
	}
}

// TestASmallBoundFreesItself: the rate was measured with a bound of Least, and the bound must not keep it there.
func TestASmallBoundFreesItself(t *testing.T) {
	b := newBench()
	b.run(10*time.Second, 10_000, time.Millisecond)
	requireBytes(t, b.pace, Least, Least)
	b.run(time.Second, 60*mib, 10*time.Millisecond)
	requireBytes(t, b.pace, 3*mib*9/10, 3*mib*11/10)
}

// TestAShortStallChangesLittle: falling slowly is what keeps throughput through a pause of the broker.
func TestAShortStallChangesLittle(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, 40*mib, time.Millisecond)
	b.run(200*time.Millisecond, 0, time.Millisecond)
	requireBytes(t, b.pace, 3*mib/2, 2*mib)
}

// TestASlowSourceIsNoSlowBroker: where little waits, nothing is learnt.
func TestASlowSourceIsNoSlowBroker(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, 40*mib, time.Millisecond)
	before := b.pace.Bytes(0, most)
	for range 1000 {
		b.now = b.now.Add(5 * time.Millisecond)
		b.acked += 1000
		b.meter.Observe(b.now, b.acked, before/2-1, before)
	}
	requireBytes(t, b.pace, before, before)
}

// TestTheFirstAcknowledgementBeginsTheMeasure: connecting and adding partitions to the transaction is not what the broker takes.
func TestTheFirstAcknowledgementBeginsTheMeasure(t *testing.T) {
	b := newBench()
	b.run(5*time.Second, 40*mib, time.Millisecond)
	before := b.pace.Bytes(0, most)
	fresh := b.pace.Meter()
	for range 400 {
		b.now = b.now.Add(5 * time.Millisecond)
		fresh.Observe(b.now, 0, before, before)
	}
	requireBytes(t, b.pace, before, before)
}
