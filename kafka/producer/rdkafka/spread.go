package rdkafka

import (
	"math/rand/v2"
)

const (
	// switchBytes is how many bytes without a key go to one partition before the next one gets its turn: Java's default
	// batch.size, after which its sticky partitioner moves on too (KIP-794).
	switchBytes = 16 << 10
	// anyPartition leaves the choice to librdkafka's partitioner.
	anyPartition = -1
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
