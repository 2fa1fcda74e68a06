package epoch

import (
	"time"

	"penstock.dev/penstock/kafka/producer"
	"penstock.dev/penstock/kafka/producer/lease"
)

// maxMargin and a tenth of the transaction timeout bound the time that is left for the commit of a transaction: it has still to go
// through Flink's checkpoint and committer.
const maxMargin = 30 * time.Second

func commitMargin(timeout time.Duration) time.Duration { return min(timeout/10, maxMargin) }

// usable is when the transaction of the open epoch has become too old to be committed in time; ok is false while it has no rows: the
// coordinator counts from the first of them. mu is held.
func (w *Writer) usable() (until time.Time, ok bool) {
	timeout := w.o.Config.TransactionTimeout
	if !w.o.Transactional || w.written.IsZero() || timeout == 0 {
		return time.Time{}, false
	}
	return w.written.Add(timeout - commitMargin(timeout)), true
}

// tooOld is the failure of an open epoch that the broker is about to abort, nil while there is time. mu is held.
func (w *Writer) tooOld() error {
	if _, ok := w.usable(); !ok || w.m.state != Open && w.m.state != Sealing {
		return nil
	}
	timeout := w.o.Config.TransactionTimeout
	margin := commitMargin(timeout)
	age := lease.Elapsed(w.written, time.Now())
	if age <= timeout-margin {
		return nil
	}
	return producer.Errorf(producer.FailEpoch, "epoch %d, transaction %q has been open for %d ms, and its commit would come too late: the "+
		"broker aborts it at properties.transaction.timeout.ms = %d, of which %d are left for the commit: raise the property (and the "+
		"broker's transaction.max.timeout.ms) above execution.checkpointing.interval plus execution.checkpointing.timeout, or let "+
		"checkpoints complete sooner", w.m.epoch, w.m.id, age.Milliseconds(), timeout.Milliseconds(), margin.Milliseconds())
}
