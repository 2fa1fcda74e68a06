package rdkafka

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"penstock.dev/penstock/kafka/producer"
)

const (
	// switchBytes is how many bytes without a key go to one partition before the next one gets its turn: Java's default
	// batch.size, after which its sticky partitioner moves on too (KIP-794).
	switchBytes = 16 << 10
	// anyPartition leaves the choice to librdkafka's partitioner.
	anyPartition = -1
	// unknownFor is how soon the partitions of a topic are looked up again when they could not be learned, or when some of
	// them had no leader.
	unknownFor = 5 * time.Second
	// lookUpTimeout bounds the wait for a topic's partitions; without them librdkafka's partitioner does the job.
	lookUpTimeout = time.Second
)

// spread chooses the partition of records without keys, a whole encoded batch at a time. librdkafka's own sticky partitioner
// chooses for each record and moves on by time, so that every partition is left with the beginning of a batch that waits for
// its linger, and its broker thread spins meanwhile; and the choice costs as much as the rest of enqueueing a record.
//
// It belongs to one producer and to the goroutine that produces.
type spread struct {
	next  int
	bytes int
}

// choose returns the partition for the next `size` bytes.
func (s *spread) choose(partitions []int32, size int) int32 {
	if len(partitions) == 0 {
		return anyPartition
	}
	if s.bytes == 0 {
		s.next = rand.IntN(len(partitions))
	} else if s.bytes >= switchBytes {
		s.next++
		s.bytes = 0
	}
	s.bytes += max(size, 1)
	return partitions[s.next%len(partitions)]
}

// topics remembers the partitions of topics for all producers of an engine. It is safe for concurrent use.
type topics struct {
	mu    sync.Mutex
	known map[topicKey]topicEntry
}

type topicKey struct{ servers, topic string }

type topicEntry struct {
	partitions []int32
	until      time.Time
}

func newTopics() *topics { return &topics{known: map[topicKey]topicEntry{}} }

// partitions returns the partitions of topic that have a leader, as they were at most Config.MetadataMaxAge ago; empty when they
// cannot be learned, which is no error here: librdkafka finds the reason and words it better.
func (t *topics) partitions(ctx context.Context, d *identities, cfg producer.Config, topic string) []int32 {
	key := topicKey{clusterKey(cfg), topic}
	t.mu.Lock()
	entry, ok := t.known[key]
	t.mu.Unlock()
	if ok && time.Now().Before(entry.until) {
		return entry.partitions
	}
	partitions, complete := d.partitionsOf(ctx, cfg, topic)
	validFor := cfg.MetadataMaxAge
	if !complete {
		validFor = min(validFor, unknownFor)
	}
	t.mu.Lock()
	t.known[key] = topicEntry{partitions: partitions, until: time.Now().Add(validFor)}
	t.mu.Unlock()
	return partitions
}

// forget makes the next producer look again: the topic was not what it was thought to be.
func (t *topics) forget(cfg producer.Config, topic string) {
	t.mu.Lock()
	delete(t.known, topicKey{clusterKey(cfg), topic})
	t.mu.Unlock()
}

// partitionsOf asks the cluster. complete is false when some partitions have no leader or the question failed.
func (d *identities) partitionsOf(ctx context.Context, cfg producer.Config, topic string) (ids []int32, complete bool) {
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	cl, release, err := d.acquire(cfg)
	if err != nil {
		return nil, false
	}
	defer release()
	all, err := cl.ListTopics(ctx, topic)
	if err != nil || all[topic].Err != nil {
		return nil, false
	}
	sorted := all[topic].Partitions.Sorted()
	for _, p := range sorted {
		if p.Err == nil && p.Leader >= 0 {
			ids = append(ids, p.Partition)
		}
	}
	return ids, len(ids) == len(sorted)
}
