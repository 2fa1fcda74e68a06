package memctl

// Purpose is what reserved bytes are for. The set is closed: a new consumer of memory gets a purpose here, and with it a line in the
// status and in the metrics.
type Purpose uint8

const (
	// Lease is shared memory that a session may write into. Batches in flight lie in it and are not counted again.
	Lease Purpose = iota
	// EncodeBuffer is a writer's private memory for encoded records.
	EncodeBuffer
	// ProducerQueue is the limit of the queue of a producer that exists, whether it is full or not.
	ProducerQueue
	// SpillReadBack is private memory into which a spilled batch is read.
	SpillReadBack

	purposeCount
)

var purposeNames = [purposeCount]string{"lease", "encode_buffer", "producer_queue", "spill_read_back"}

// String is the name in metrics, in the status and in messages.
func (p Purpose) String() string {
	if p < purposeCount {
		return purposeNames[p]
	}
	return "unknown"
}

// Purposes are all there are, in the order in which they are shown.
func Purposes() []Purpose { return []Purpose{Lease, EncodeBuffer, ProducerQueue, SpillReadBack} }

// Amounts are bytes, indexed by Purpose.
type Amounts [purposeCount]uint64

// Sum is the bytes of all purposes together.
func (a Amounts) Sum() uint64 {
	var sum uint64
	for _, bytes := range a {
		sum += bytes
	}
	return sum
}
