package pipeline

import (
	"errors"
	"time"

	"penstock.dev/penstock/columnar/ipc"
	"penstock.dev/penstock/daemon/fault"
	"penstock.dev/penstock/daemon/telemetry"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm/spill"
)

// relieve moves batches to the disk when more than the high water has waited for longer than the patience. The oldest stay: they are
// needed first. Once begun it goes on until the writer has taken so many that half of the high water is left.
func (b *Backlog) relieve() {
	if b.disk == nil {
		return
	}
	now := time.Now()
	switch {
	case b.waiting <= b.disk.HighWater/2:
		b.over = time.Time{}
	case b.waiting > b.disk.HighWater && b.over.IsZero():
		b.over = now
	}
	if b.over.IsZero() || b.waiting <= b.disk.HighWater || now.Before(b.due()) {
		return
	}
	keep := b.disk.HighWater
	for _, q := range b.queue {
		if !q.inMemory() {
			continue
		}
		if keep -= q.size; keep >= 0 {
			continue
		}
		if err := b.spill(q); errors.Is(err, spill.ErrBusy) {
			return // the end of a write wakes us
		} else if err != nil {
			b.refused(err)
			return
		}
	}
}

// due is when the disk may be asked next.
func (b *Backlog) due() time.Time {
	due := b.over.Add(b.disk.Patience)
	if due.Before(b.paused) {
		return b.paused
	}
	return due
}

// alarm fires when relieve has something to do although nothing happens.
func (b *Backlog) alarm() (<-chan time.Time, func()) {
	if b.disk == nil || b.over.IsZero() || b.waiting <= b.disk.HighWater {
		return nil, func() {}
	}
	wait := time.Until(b.due())
	if wait <= 0 {
		return nil, func() {} // the queue of the disk is full: the end of a write wakes us
	}
	timer := time.NewTimer(wait)
	return timer.C, func() { timer.Stop() }
}

// spill gives one batch to the disk. What the disk cannot take for its own sake (malformed, too large, revoked) stays where it is.
func (b *Backlog) spill(q *Queued) error {
	w, submit := b.writer, q.request.GetSubmit()
	stays := func() error {
		b.waiting -= q.size
		q.size = 0
		return nil
	}
	extent, err := w.options.Source.Spill(submit.GetSlot(), submit.GetGeneration())
	if err != nil {
		return stays()
	}
	descriptor := extent.Descriptor
	message, err := ipc.Batch(extent.Body, spill.BodyBytes(len(extent.Body)))
	if err != nil {
		_ = w.options.Source.SpillFailed(extent)
		return stays()
	}
	back := func(err error) error {
		if failed := w.options.Source.SpillFailed(extent); failed != nil {
			return stays()
		}
		return err
	}
	if err := w.readBack.hold(spill.BodyBytes(len(extent.Body)) + int64(len(message))); err != nil {
		return back(err)
	}
	batch, err := b.stream.Spill(message, extent.Body, func(err error) {
		var settled error
		if err == nil || errors.Is(err, spill.ErrDropped) {
			settled = w.options.Source.Spilled(extent)
		} else {
			settled = w.options.Source.SpillFailed(extent)
		}
		b.ended(writeEnd{q, err, settled})
	})
	if err != nil {
		w.readBack.release()
		if err = back(err); errors.As(err, new(*spill.TooLargeError)) {
			return stays()
		}
		return err
	}
	q.disk, q.descriptor, q.writing = batch, descriptor, true
	b.waiting -= q.size
	return nil
}

// ended is called on the disk's goroutine. When the backlog has been stopped nobody would take a batch that is parked again.
func (b *Backlog) ended(end writeEnd) {
	b.mu.Lock()
	late := b.late
	b.ends = append(b.ends, end)
	b.mu.Unlock()
	if late && end.err != nil && !errors.Is(end.err, spill.ErrDropped) {
		b.writer.discard(&Queued{request: end.queued.request})
	}
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

// refused leaves the disk alone for a while. Where the disk is the only way out, the writer fails, and nothing more goes there.
func (b *Backlog) refused(err error) {
	if b.disk == nil {
		return // several writes have failed together
	}
	b.paused = time.Now().Add(retryDisk)
	if !b.told {
		b.told = true
		b.writer.log.Warn("the spill disk takes no more; batches wait in memory", telemetry.FieldError, err)
	}
	if b.disk.Strict && !errors.Is(err, spill.ErrClosed) {
		b.fail(fault.New(pb.ErrorKind_DENIED, "%v (spill.mode = \"on\" fails the writer then; \"bounded\" makes it wait)", err))
		b.disk = nil
	}
}
