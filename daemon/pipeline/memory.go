package pipeline

import (
	"context"
	"fmt"
	"time"

	"penstock.dev/penstock/memctl"
	pb "penstock.dev/penstock/proto/gen/penstock/v1"
)

const (
	// firstBuffer is what a writer reserves for encoded records when it opens: two extents of the size that clients use (1 MiB).
	firstBuffer = 2 << 20
	// firstGrowth is how many bytes of records one byte of columns is taken to become, until a batch has shown more.
	firstGrowth = 2
)

// memory is what a writer has reserved in the account of its process: its encode buffer, and the queue of each producer that exists.
// It belongs to the writer's goroutine, but for enter.
type memory struct {
	share *memctl.Share
	// wait bounds each reservation that has to wait.
	wait time.Duration
	// queue is the limit of one producer's queue in bytes, queues how many are reserved.
	queue  uint64
	queues int
	// buffer is what is reserved for encoded records; growth is the most bytes of records that one byte of columns became.
	buffer uint64
	growth uint64
}

// enterMemory makes the writer an owner of the account. What one producer and the first buffer need is kept for it from then on, so
// that it can always write.
func enterMemory(ctx context.Context, id uint64, open *pb.OpenWriter, queue int64, o *Options) (*memory, error) {
	m := &memory{wait: o.Limits.Memory, queue: uint64(queue), growth: firstGrowth}
	ctx, cancel := context.WithTimeout(ctx, m.wait)
	defer cancel()
	who := open.GetOwner()
	owner := memctl.Owner{Session: open.GetSessionId(), Writer: id, Job: who.GetJobId(), Vertex: who.GetVertex(), Task: who.GetTaskName(),
		Subtask: who.GetSubtask(), Attempt: who.GetAttempt()}
	var err error
	if m.share, err = o.Account.Enter(ctx, owner, memctl.ProducerQueue, m.queue+firstBuffer); err != nil {
		return nil, fmt.Errorf("%w; of that, the queue of its producer takes %d bytes (properties.buffer.memory)", err, m.queue)
	}
	if err := m.share.Reserve(memctl.EncodeBuffer, firstBuffer); err != nil {
		m.leave()
		return nil, err
	}
	m.buffer = firstBuffer
	return m, nil
}

// warm reserves the queue of a producer that is made ahead. It does not wait: the writer can do without.
func (m *memory) warm() error {
	if m.queues > 1 {
		return nil // a warm producer is replaced
	}
	if err := m.share.Reserve(memctl.ProducerQueue, m.queue); err != nil {
		return err
	}
	m.queues++
	return nil
}

// begin reserves the queue of the epoch's producer, unless that of a warm one serves.
func (m *memory) begin(ctx context.Context) error {
	if m.queues > 0 {
		return nil
	}
	if err := m.reserve(ctx, memctl.ProducerQueue, m.queue); err != nil {
		return err
	}
	m.queues++
	return nil
}

// ended returns the queue of a producer that is gone.
func (m *memory) ended() error {
	if m.queues == 0 {
		return nil
	}
	m.queues--
	return m.share.Return(memctl.ProducerQueue, m.queue)
}

// expect reserves what a batch of so many bytes will need when it is encoded, by the experience with those before it.
func (m *memory) expect(ctx context.Context, batch int) error {
	return m.hold(ctx, uint64(batch)*m.growth)
}

// encoded learns what a batch came to, and reserves what exceeded the expectation.
func (m *memory) encoded(ctx context.Context, batch, records, buffer int) error {
	if batch > 0 {
		m.growth = max(m.growth, uint64((records+batch-1)/batch))
	}
	return m.hold(ctx, uint64(buffer))
}

// hold makes the buffer's reservation at least bytes.
func (m *memory) hold(ctx context.Context, bytes uint64) error {
	if bytes <= m.buffer {
		return nil
	}
	if err := m.reserve(ctx, memctl.EncodeBuffer, bytes-m.buffer); err != nil {
		return err
	}
	m.buffer = bytes
	return nil
}

func (m *memory) reserve(ctx context.Context, p memctl.Purpose, bytes uint64) error {
	ctx, cancel := context.WithTimeout(ctx, m.wait)
	defer cancel()
	return m.share.ReserveWithin(ctx, p, bytes)
}

// leave returns everything, after the producers and the encoder are gone.
func (m *memory) leave() { m.share.Leave() }
