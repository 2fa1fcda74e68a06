package telemetry

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// Counters are the daemon's running totals since start. Every field may be raised from any goroutine.
type Counters struct {
	Batches, Rows, EncodedBytes  atomic.Uint64
	EncodeNanos, ProduceNanos    atomic.Uint64
	EpochsSealed, EpochsEmpty    atomic.Uint64
	EpochsFailed, EpochsAborted  atomic.Uint64
	SessionsOpened               atomic.Uint64
	SessionsRefused              atomic.Uint64
	StaleHandles, ForeignHandles atomic.Uint64
	BadBatches                   atomic.Uint64
	BatchesPaced                 atomic.Uint64
	// LineAnswers counts answers that went over a writer's line.
	LineAnswers  atomic.Uint64
	LeasesDenied atomic.Uint64
	// ProcessesEnded counts sessions that the end of the client's process was seen to end.
	ProcessesEnded atomic.Uint64
	// Pressed counts requests to sessions for segments that they do not use.
	Pressed atomic.Uint64
	// SegmentsAdopted and SegmentsRefused count what the service manager kept of the daemon's earlier life.
	SegmentsAdopted, SegmentsRefused atomic.Uint64
	// Differences counts disagreements of ledger, segments and kernel that lasted; Difference is the last one, in bytes.
	Differences, Difference atomic.Uint64

	sealSeconds prometheus.Histogram
}

// NewCounters starts at zero.
func NewCounters() *Counters {
	return &Counters{sealSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: MetricSealSeconds,
		Help: "Time from a seal request to its proof: what a checkpoint waits for.",
		// 1 ms to 65 s: a local broker answers within milliseconds, a delivery timeout is two minutes.
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 17),
	})}
}

// ObserveSeal records how long one seal took, in seconds.
func (c *Counters) ObserveSeal(seconds float64) { c.sealSeconds.Observe(seconds) }

// CountFault raises the counter of refused handles that belongs to a fault, if one does. bad means that a client wrote a slot
// or a batch that cannot be true.
func (c *Counters) CountFault(kind pb.ErrorKind, bad bool) {
	switch {
	case bad:
		c.BadBatches.Add(1)
	case kind == pb.ErrorKind_STALE_HANDLE:
		c.StaleHandles.Add(1)
	case kind == pb.ErrorKind_FOREIGN_HANDLE:
		c.ForeignHandles.Add(1)
	}
}

// Status is the part of the counters that the status answer shows.
func (c *Counters) Status() *pb.CounterStatus {
	return &pb.CounterStatus{
		Batches:         c.Batches.Load(),
		Rows:            c.Rows.Load(),
		EncodedBytes:    c.EncodedBytes.Load(),
		EpochsSealed:    c.EpochsSealed.Load(),
		EpochsEmpty:     c.EpochsEmpty.Load(),
		EpochsFailed:    c.EpochsFailed.Load(),
		EpochsAborted:   c.EpochsAborted.Load(),
		SessionsOpened:  c.SessionsOpened.Load(),
		SessionsRefused: c.SessionsRefused.Load(),
		StaleHandles:    c.StaleHandles.Load(),
		ForeignHandles:  c.ForeignHandles.Load(),
		BadBatches:      c.BadBatches.Load(),
		BatchesPaced:    c.BatchesPaced.Load(),
		LineAnswers:     c.LineAnswers.Load(),
	}
}
