package pace

import (
	"math"
	"sync"
	"time"
)

const (
	// Least may always wait, whatever the rate: 32 of Kafka's default batches of 16 KiB, which is more than a Java producer has under way
	// (max.in.flight.requests.per.connection = 5) for six partitions on one broker.
	Least = 512 << 10
	// sampling is the shortest time that a rate is taken from; acknowledgements come in bursts of a whole batch.
	sampling = 50 * time.Millisecond
	// falling and rising are how long the rate remembers. A stall of some hundred milliseconds (a collection of the broker's heap, say)
	// must not halve the bound; a bound that is too small costs throughput and is left at once.
	falling = time.Second
	rising  = 100 * time.Millisecond
)

// near is how far from its expectation a periodic barrier may be: the timer of the coordinator, a call to the TaskManager and the task's
// mailbox are in between.
const near = 20 * time.Millisecond

// dueShare is the part of the target that may wait while a barrier is due. It still is many times the broker's answer time where brokers are
// near, so that they do not run idle.
const dueShare = 4

// Pace is what one writer knows of its broker; it outlives the producers of single epochs. A nil Pace bounds nothing. It is safe for
// concurrent use.
type Pace struct {
	target time.Duration

	mu sync.Mutex
	// rate is in bytes per second; 0: not known yet.
	rate float64
	// bytes were acknowledged within took, which is too short for a sample so far.
	bytes int64
	took  time.Duration
	waits int64
	// due is when the next barrier is expected; zero: nobody knows.
	due time.Time
}

// New makes a Pace without knowledge. A target of 0 makes none.
func New(target time.Duration) *Pace {
	if target <= 0 {
		return nil
	}
	return &Pace{target: target}
}

// Bytes is how many bytes may wait: what the broker takes within the target and slack, at least Least and at most `most`. While nothing
// is known it is `most`.
func (p *Pace) Bytes(slack time.Duration, most int64) int64 {
	if p == nil {
		return most
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.within(p.target+slack, most)
}

// BytesAt is Bytes, or less at a time at which a barrier is due.
func (p *Pace) BytesAt(now time.Time, slack time.Duration, most int64) int64 {
	if p == nil {
		return most
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	target := p.target
	if early := p.due.Sub(now); !p.due.IsZero() && early.Abs() <= 2*p.target {
		target /= dueShare
	}
	return p.within(target+slack, most)
}

// within is what the broker takes in such a time; mu is held.
func (p *Pace) within(span time.Duration, most int64) int64 {
	if p.rate == 0 {
		return most
	}
	bytes := p.rate * span.Seconds()
	return min(max(int64(min(bytes, math.MaxInt64/2)), Least), most)
}

// Expect tells when the next barrier is probably due. Around that time less may wait, since the barrier waits for all of it; a barrier that
// comes at another time waits for more, and nothing else is lost.
func (p *Pace) Expect(barrier time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.due = barrier
	p.mu.Unlock()
}

// Near tells whether a barrier is so close that nothing should linger any more: what does is in front of it.
func (p *Pace) Near(now time.Time) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.due.IsZero() && p.due.Sub(now).Abs() <= near
}

// Known is what the broker takes within the target, bounded below by Least; 0 while it is not known.
func (p *Pace) Known() int64 {
	if bytes := p.Bytes(0, math.MaxInt64); bytes != math.MaxInt64 {
		return bytes
	}
	return 0
}

// Waited counts one batch that had to wait because of Bytes.
func (p *Pace) Waited() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.waits++
	p.mu.Unlock()
}

// Waits is how many batches had to wait because of Bytes.
func (p *Pace) Waits() int64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// drained takes an interval in which the broker had work.
func (p *Pace) drained(bytes int64, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	p.took += took
	if p.took < sampling {
		return
	}
	sample := float64(p.bytes) / p.took.Seconds()
	// A rate of 0 would say that nothing is known; one byte a second is as good a word for a broker that stands still.
	p.rate = max(smooth(p.rate, sample, p.took), 1)
	p.bytes, p.took = 0, 0
}

// smooth is the rate after a sample that took so long.
func smooth(rate, sample float64, took time.Duration) float64 {
	if rate == 0 {
		return sample
	}
	memory := falling
	if sample > rate {
		memory = rising
	}
	return rate + (sample-rate)*(1-math.Exp(-float64(took)/float64(memory)))
}

// Meter watches one producer. It is used by one goroutine.
type Meter struct {
	pace         *Pace
	at           time.Time
	acknowledged int64
	busy         bool
}

// Meter begins to watch a producer that has sent nothing yet. nil for a nil Pace, and then Observe does nothing.
func (p *Pace) Meter() *Meter {
	if p == nil {
		return nil
	}
	return &Meter{pace: p}
}

// Observe tells what has become of a producer by `now`: how many bytes were acknowledged since it began, and how many wait, of `bytes`
// that may.
func (m *Meter) Observe(now time.Time, acknowledged, waiting, bytes int64) {
	if m == nil {
		return
	}
	busy := acknowledged > 0 && waiting >= bytes/2
	if busy && m.busy {
		m.pace.drained(acknowledged-m.acknowledged, now.Sub(m.at))
	}
	m.at, m.acknowledged, m.busy = now, acknowledged, busy
}
