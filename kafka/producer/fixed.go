package producer

import "sync"

// Fixed places all records of one subtask, as the connector's FlinkFixedPartitioner does: on the subtask modulo the number of
// partitions of the topic. The numbers are remembered as long as the writer lives, as DefaultKafkaSinkContext remembers them: a
// topic that gains partitions moves no subtask. It is shared by the producers of one writer and safe for concurrent use.
type Fixed struct {
	subtask int
	mu      sync.Mutex
	counts  map[string]int
}

// NewFixed makes the placement of one writer; subtask counts from 0.
func NewFixed(subtask int) *Fixed { return &Fixed{subtask: subtask, counts: map[string]int{}} }

// Partition is the one for topic. count asks for the number of partitions when it is not known; its error is returned, and the
// next call asks again.
func (f *Fixed) Partition(topic string, count func() (int, error)) (int32, error) {
	f.mu.Lock()
	n := f.counts[topic]
	f.mu.Unlock()
	if n > 0 {
		return int32(f.subtask % n), nil
	}
	n, err := count()
	if err != nil {
		return 0, err
	}
	if n <= 0 {
		return 0, Errorf(FailEpoch, "topic %q: Partitions of the target topic is empty, 'sink.partitioner' = 'fixed' needs one", topic)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[topic] = n
	return int32(f.subtask % n), nil
}
