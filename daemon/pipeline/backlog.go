package pipeline

import (
	"context"
	"sync"
	"time"

	pb "penstock.dev/penstock/proto/gen/penstock/v1"
	"penstock.dev/penstock/shm"
	"penstock.dev/penstock/shm/spill"
)

// mostQueued bounds the requests of a backlog, beside those in the channels around it. They are small; each batch among them that went
// to the disk has given its memory back.
const mostQueued = 16 << 10

// mostKept is how many batches are below the high water, however small they are. A client has only some outstanding at one time (two, and
// one for each MiB of writer.credit), and closes them by time: it would stand still with a few KiB parked, far below any high water.
const mostKept = 3

// Queued is one request on its way to the writer. It belongs to the Backlog until it is handed out.
type Queued struct {
	request *pb.WriteRequest
	// size is what a parked batch counts against the high water in bytes, see mostKept; 0 when it is none that the disk could take.
	size int64
	// disk is where the batch is, or is going to be; nil: in memory. descriptor is that of its slot.
	disk       *spill.Batch
	descriptor shm.Descriptor
	// writing: the disk still reads the batch's memory.
	writing bool
	// settled is why the batch's memory could not be given back to the session.
	settled error
	// aborted: the client has aborted the batch's epoch behind it. dropped: the disk has been told.
	aborted, dropped bool
}

// NewQueued is a request that has just come.
func NewQueued(request *pb.WriteRequest) *Queued { return &Queued{request: request} }

// Request is what the client has sent.
func (q *Queued) Request() *pb.WriteRequest { return q.request }

// inMemory tells whether the batch counts against the high water.
func (q *Queued) inMemory() bool { return q.disk == nil && q.size > 0 && !q.aborted }

// Backlog is what a client has sent and its writer has not taken, in order. With a disk one goroutine owns it and moves batches there when
// too many wait for too long. Without one there is nothing to do, and it is only the channel from which the requests come: see
// BenchmarkBacklog for what a goroutine in between costs. See Writer.Backlog.
type Backlog struct {
	writer *Writer
	disk   *Disk
	stream *spill.Stream

	in  <-chan *Queued
	out chan *Queued
	// requests is out, or in when there is no disk.
	requests <-chan *Queued

	// handling is the context of the requests; its cause is why the disk fails the writer.
	handling context.Context
	fail     context.CancelCauseFunc
	stop     context.CancelFunc
	stopping context.Context
	stopped  chan struct{}

	queue []*Queued
	// waiting is the bytes of parked batches that are in memory and not on their way to the disk.
	waiting int64
	// over is when more than the high water began to wait; zero when half of it or less does.
	over time.Time
	// paused is until when the disk is left alone; refusals are told once for each time that it begins to refuse.
	paused time.Time
	told   bool

	// woken has room for one wake-up; ends are the writes that have ended since.
	woken chan struct{}
	mu    sync.Mutex
	ends  []writeEnd
	// late: nobody collects any more.
	late bool
}

// writeEnd is what the disk has told about one batch.
type writeEnd struct {
	queued       *Queued
	err, settled error
}

// Backlog starts to take requests from in, which the client's end closes. The caller hands what it gets to Handle, and stops the backlog
// before it closes the writer.
func (w *Writer) Backlog(ctx context.Context, in <-chan *Queued) *Backlog {
	b := &Backlog{writer: w, disk: w.options.Disk, in: in, requests: in, stopped: make(chan struct{}), woken: make(chan struct{}, 1)}
	b.handling, b.fail = context.WithCancelCause(ctx)
	b.stopping, b.stop = context.WithCancel(ctx)
	if b.disk == nil {
		close(b.stopped)
		return b
	}
	b.out = make(chan *Queued)
	b.requests = b.out
	b.stream = b.disk.Store.NewStream(w.sessionID, w.schema)
	go b.run()
	return b
}

// Context is what Handle is called with: it ends when the writer must fail because its batches have nowhere to go.
func (b *Backlog) Context() context.Context { return b.handling }

// Requests hands the requests out in order. It is closed behind the last one.
func (b *Backlog) Requests() <-chan *Queued { return b.requests }

// Stop ends the backlog and returns what it had not handed out.
func (b *Backlog) Stop() []*Queued {
	b.stop()
	<-b.stopped
	b.fail(nil)
	b.mu.Lock()
	b.late = true
	b.mu.Unlock()
	b.collect()
	if b.stream != nil {
		b.stream.Close()
	}
	rest := b.queue
	for {
		select {
		case q, ok := <-b.in:
			if !ok {
				return rest
			}
			rest = append(rest, q)
		default:
			return rest
		}
	}
}

func (b *Backlog) run() {
	defer close(b.stopped)
	for b.step() {
	}
}

// step waits for one thing to happen; it returns false when nothing can any more.
func (b *Backlog) step() bool {
	var out chan<- *Queued
	var head *Queued
	if len(b.queue) > 0 {
		if head = b.queue[0]; !head.writing || head.aborted {
			out = b.out
		}
	} else if b.in == nil {
		close(b.out)
		return false
	}
	in := b.in
	if len(b.queue) >= mostQueued {
		in = nil
	}
	alarm, cancel := b.alarm()
	defer cancel()
	select {
	case q, ok := <-in:
		if !ok {
			b.in = nil
			return true
		}
		b.add(q)
	case out <- head:
		b.queue[0] = nil
		b.queue = b.queue[1:]
		if head.inMemory() {
			b.waiting -= head.size
		}
	case <-b.woken:
		b.collect()
	case <-alarm:
	case <-b.stopping.Done():
		return false
	}
	b.relieve()
	return true
}

// add takes one request in.
func (b *Backlog) add(q *Queued) {
	b.queue = append(b.queue, q)
	if abort := q.request.GetAbort(); abort != nil {
		b.abort(abort.GetEpochId())
	}
	submit := q.request.GetSubmit()
	if b.disk == nil || submit == nil {
		return
	}
	// What cannot be read has size 0 and stays where it is: the writer will say why.
	if size, err := b.writer.options.Source.Size(submit.GetSlot(), submit.GetGeneration()); err == nil {
		q.size = max(int64(size), b.disk.HighWater/mostKept)
		b.waiting += q.size
	}
}

// abort lets the batches of an epoch go: nobody will see their rows.
func (b *Backlog) abort(epoch uint64) {
	for _, q := range b.queue {
		submit := q.request.GetSubmit()
		if submit == nil || submit.GetEpochId() != epoch || q.aborted {
			continue
		}
		if q.inMemory() {
			b.waiting -= q.size
		}
		q.aborted = true
		b.writer.discard(q)
	}
}

// collect takes note of writes that have ended.
func (b *Backlog) collect() {
	b.mu.Lock()
	ends := b.ends
	b.ends = nil
	b.mu.Unlock()
	for _, end := range ends {
		q := end.queued
		q.writing, q.settled = false, end.settled
		if end.err == nil || q.aborted {
			b.told = b.told && end.err != nil
			continue
		}
		q.disk = nil
		b.waiting += q.size
		b.writer.readBack.release()
		b.refused(end.err)
	}
}
