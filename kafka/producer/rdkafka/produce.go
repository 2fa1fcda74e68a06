package rdkafka

/*
#include <stdlib.h>
#include "penstock_rdkafka.h"
*/
import "C"

import (
	"context"
	"runtime"
	"time"
	"unsafe"

	"penstock.dev/penstock/kafka/producer"
)

// target is one topic that a client has produced to.
type target struct {
	handle *C.rd_kafka_topic_t
	spread spread
}

// target finds or makes the one for topic.
func (c *client) target(topic string) (*target, error) {
	if t := c.targets[topic]; t != nil {
		return t, nil
	}
	if topic == "" {
		return nil, producer.Errorf(producer.Internal, "a batch without a topic")
	}
	name := C.CString(topic)
	defer C.free(unsafe.Pointer(name))
	handle := C.rd_kafka_topic_new(C.ps_handle(c.p), name, nil)
	if handle == nil {
		return nil, producer.Errorf(producer.FailEpoch, "the client library refused the topic name %q: correct the option 'topic', "+
			"or the rows' own topics", topic)
	}
	t := &target{handle: handle}
	c.targets[topic] = t
	return t, nil
}

// produce enqueues all of r or fails.
func (c *client) produce(ctx context.Context, r *producer.Records) error {
	n := r.Len()
	if n <= 0 {
		return nil
	}
	if err := checkShape(r, n); err != nil {
		return err
	}
	t, err := c.target(r.Topic)
	if err != nil {
		return err
	}
	partition, err := c.partitionFor(ctx, t, r)
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	limit := c.limit()
	batch := C.ps_batch{topic: t.handle, count: C.int64_t(n), partition: C.int32_t(partition), limit: C.int64_t(limit)}
	batch.values = (*C.uint8_t)(pinned(&pin, r.Values))
	batch.value_offsets = (*C.uint32_t)(pinned(&pin, r.ValueOffsets))
	batch.value_nulls = (*C.uint8_t)(pinned(&pin, r.ValueNulls))
	batch.keys = (*C.uint8_t)(pinned(&pin, r.Keys))
	batch.key_offsets = (*C.uint32_t)(pinned(&pin, r.KeyOffsets))
	batch.key_nulls = (*C.uint8_t)(pinned(&pin, r.KeyNulls))
	batch.timestamps = (*C.int64_t)(pinned(&pin, r.Timestamps))
	if h := r.Headers; h != nil {
		batch.header_ends = (*C.uint32_t)(pinned(&pin, h.Ends))
		batch.header_offsets = (*C.uint32_t)(pinned(&pin, h.Offsets))
		batch.header_bytes = (*C.uint8_t)(pinned(&pin, h.Bytes))
	}

	defer c.cancellable(ctx)()
	c.observe(limit, int64(r.Size(0, n)))
	defer c.observe(limit, 0)
	var result C.ps_result
	accepted := int64(C.ps_produce(c.p, &batch, C.int64_t(remaining(ctx, c.cfg.MaxBlock)), &result))
	if accepted == int64(n) {
		c.hurry()
		return nil
	}
	c.engine.topics.forget(c.cfg, r.Topic)
	return c.produceFault(ctx, goResult(&result), r, int(accepted))
}

// limit is how many bytes may wait now: the user's or the engine's limit of the queue, or less by the pace of the broker. Rows that
// linger on purpose are not those that the broker is slow with.
func (c *client) limit() int64 {
	return c.cfg.Pace.BytesAt(time.Now(), linger(c.cfg, c.id), c.cfg.QueueBytes())
}

// hurry sends what would linger in front of a barrier that is close. Where a whole batch waits anyway nothing lingers.
func (c *client) hurry() {
	if !c.cfg.Pace.Near(time.Now()) {
		return
	}
	var w C.ps_waiting
	C.ps_waiting_get(c.p, &w)
	if w.bytes < largestBatch {
		C.ps_hurry(c.p)
	}
}

// observe tells the pace what waits; next is how many bytes are to be enqueued.
func (c *client) observe(limit, next int64) {
	if c.meter == nil {
		return
	}
	var w C.ps_waiting
	C.ps_waiting_get(c.p, &w)
	c.meter.Observe(time.Now(), int64(w.given), int64(w.bytes), limit)
	if limit < c.cfg.QueueBytes() && int64(w.bytes)+next > limit {
		c.cfg.Pace.Waited()
	}
}

// partitionFor is the partition of a whole batch: the subtask's, or without keys the next one. Records with keys are placed one by one
// by librdkafka's murmur2_random, which takes a null key as Java does and hashes an empty one.
func (c *client) partitionFor(ctx context.Context, t *target, r *producer.Records) (int32, error) {
	switch {
	case c.cfg.Fixed != nil:
		return c.cfg.Fixed.Partition(r.Topic, func() (int, error) { return c.countPartitions(ctx, r.Topic) })
	case r.KeyOffsets != nil:
		return anyPartition, nil
	}
	topic := c.engine.topics.get(ctx, c.engine.identities, c.cfg, r.Topic)
	return t.spread.choose(topic.partitions, r.Size(0, r.Len())), nil
}

// countPartitions asks for the number of partitions until there is an answer, ctx ends or Config.MaxBlock passes, as Java's
// partitionsFor does.
func (c *client) countPartitions(ctx context.Context, name string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.MaxBlock)
	defer cancel()
	for {
		if topic := c.engine.topics.get(ctx, c.engine.identities, c.cfg, name); topic.count > 0 {
			return topic.count, nil
		}
		c.engine.topics.forget(c.cfg, name)
		select {
		case <-ctx.Done():
			return 0, producer.Errorf(producer.FailEpoch, "the partitions of topic %q, which 'sink.partitioner' = 'fixed' needs, could not "+
				"be learned within properties.max.block.ms = %d from the brokers at %s: check that the topic exists and that this user "+
				"may describe it: %w", name, c.cfg.MaxBlock.Milliseconds(), c.servers(), ctx.Err())
		case <-time.After(max(c.cfg.RetryBackoff, 10*time.Millisecond)):
		}
	}
}

// pinned is the address of s for C, nil when s is empty.
func pinned[T any](pin *runtime.Pinner, s []T) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	p := unsafe.SliceData(s)
	pin.Pin(p)
	return unsafe.Pointer(p)
}
