package pipeline

import (
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

// stats are those of the current epoch.
type stats struct {
	batches, bytes, encodeNanos, produceNanos uint64
}

func (s *stats) message(flush time.Duration) *pb.EpochStats {
	return &pb.EpochStats{
		Batches:      s.batches,
		EncodedBytes: s.bytes,
		EncodeNanos:  s.encodeNanos,
		ProduceNanos: s.produceNanos,
		FlushNanos:   uint64(flush),
	}
}

// totals run over the whole life of a writer.
type totals struct {
	rows, bytes, encodeNanos, produceNanos uint64
}

// countEncoded adds one batch to the epoch, the writer and the daemon.
func (w *Writer) countEncoded(bytes, nanos uint64) {
	w.stats.batches++
	w.stats.bytes += bytes
	w.stats.encodeNanos += nanos
	w.totals.bytes += bytes
	w.totals.encodeNanos += nanos
	w.options.Counters.Batches.Add(1)
	w.options.Counters.EncodedBytes.Add(bytes)
	w.options.Counters.EncodeNanos.Add(nanos)
}

// countProduced adds the rows of one batch that the producer has accepted.
func (w *Writer) countProduced(rows, nanos uint64) {
	w.stats.produceNanos += nanos
	w.totals.rows += rows
	w.totals.produceNanos += nanos
	w.options.Counters.Rows.Add(rows)
	w.options.Counters.ProduceNanos.Add(nanos)
}
