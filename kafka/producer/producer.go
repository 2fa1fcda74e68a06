package producer

import (
	"context"
	"time"

	"penstock.dev/penstock/kafka/producer/lease"
	"penstock.dev/penstock/kafka/producer/pace"
)

// Config is the neutral producer configuration; every duration and size is explicit. Field meanings: KafkaConfig in
// proto/penstock/v1/sink.proto. A zero where that message says "engine default" lets the engine choose.
type Config struct {
	// Topics are where the records will go, so that the engine can learn their limits before the first record; empty when not known.
	Topics []string
	// Fixed places every record by the subtask; nil places each as Kafka's producer does: (murmur2(key) & 0x7fffffff) modulo the
	// number of all partitions of the topic, and without a key anywhere.
	Fixed              *Fixed
	BootstrapServers   []string
	ClientID           string
	Acks               int
	Idempotence        bool
	DeliveryTimeout    time.Duration
	RequestTimeout     time.Duration
	MaxBlock           time.Duration
	TransactionTimeout time.Duration
	// Linger: nil lets the engine choose.
	Linger                 *time.Duration
	BatchBytes             int
	BufferBytes            int64
	MaxRequestBytes        int
	Compression            string
	CompressionLevel       *int
	RetryBackoff           time.Duration
	RetryBackoffMax        time.Duration
	ReconnectBackoff       time.Duration
	ReconnectBackoffMax    time.Duration
	ConnectionSetupTimeout time.Duration
	ConnectionsMaxIdle     time.Duration
	MetadataMaxAge         time.Duration
	MaxInFlight            int
	Retries                *int
	SendBufferBytes        int
	ReceiveBufferBytes     int
	CanonicalBootstrap     bool
	MetadataRecovery       string
	RebootstrapTrigger     *time.Duration
	NoMetricsPush          bool
	// Security nil: PLAINTEXT.
	Security *Security
	// Lease bounds when initialisations may be sent; nil: each has one of its own.
	Lease *lease.Lease
	// Pace bounds by time what may wait in the queue; nil: BufferBytes alone does. Producers of one writer have it in common.
	Pace *pace.Pace
}

// defaultQueueBytes bounds the queue when the user did not. A barrier waits until the queue is acknowledged, so the queue holds
// what a fast broker takes in less than a tenth of a second, not Java's 32 MiB: those are rarely filled there, because the task thread
// is slower than the broker; here they would always be full.
const defaultQueueBytes = 4 << 20

// QueueBytes is how many bytes of records one producer may have queued: the memory to reserve before it exists.
func (c *Config) QueueBytes() int64 {
	if c.BufferBytes == 0 {
		return max(defaultQueueBytes, 2*int64(c.MaxRequestBytes))
	}
	return c.BufferBytes
}

// Identity names one transaction for the committer.
type Identity struct {
	TransactionalID string
	ProducerID      int64
	ProducerEpoch   int16
}

// NoTimestamp is the timestamp of a record that gets the time of producing.
const NoTimestamp int64 = -1

// Records is one encoded batch for one topic. Value i is Values[ValueOffsets[i]:ValueOffsets[i+1]]. The engine may keep
// the memory of the slices until Produce returns, not longer.
type Records struct {
	Topic        string
	Values       []byte
	ValueOffsets []uint32
	// ValueNulls has one bit for each record, least significant bit first; 1: the value is null (a tombstone), and its bytes
	// are ignored. nil: no value is null.
	ValueNulls []byte
	// Keys and KeyOffsets are as Values and ValueOffsets; KeyOffsets is nil when every key is null.
	Keys       []byte
	KeyOffsets []uint32
	// KeyNulls are as ValueNulls. A null key is no key, an empty one is.
	KeyNulls []byte
	// Timestamps in milliseconds since the Unix epoch or NoTimestamp, one for each record; nil: the time of producing.
	Timestamps []int64
	// Headers is nil when no record has any.
	Headers *Headers
}

// Headers are those of all records of a batch. The headers of record i are k from Ends[i] to before Ends[i+1]; the key of header k is
// Bytes[Offsets[2k]:Offsets[2k+1]], its value Bytes[Offsets[2k+1]:Offsets[2k+2]]. Keys are UTF-8, values are never null.
type Headers struct {
	// Ends has one element more than there are records. It need not begin at 0.
	Ends []uint32
	// Offsets has two elements for each header and one more.
	Offsets []uint32
	Bytes   []byte
}

// Len is the number of records.
func (r *Records) Len() int { return len(r.ValueOffsets) - 1 }

// Size is the number of bytes of keys, values and headers of the records from `from` to before `to`.
func (r *Records) Size(from, to int) int {
	size := int(r.ValueOffsets[to] - r.ValueOffsets[from])
	if r.KeyOffsets != nil {
		size += int(r.KeyOffsets[to] - r.KeyOffsets[from])
	}
	if h := r.Headers; h != nil {
		size += int(h.Offsets[2*h.Ends[to]] - h.Offsets[2*h.Ends[from]])
	}
	return size
}

// Counters are running totals of one producer.
type Counters struct {
	Accepted, Acknowledged, Failed int64
}

// Engine makes producers. It is safe for concurrent use.
type Engine interface {
	// Name says which engine and which version, for logs.
	Name() string
	// Validate refuses a configuration that the engine cannot map, with the option, the value and what to do.
	Validate(Config) error
	// Init creates a transactional producer, initialises its id and learns the identity from the coordinator. It blocks up
	// to a second on a healthy broker: never call it on the barrier path. It returns when ctx ends.
	Init(ctx context.Context, cfg Config, transactionalID string) (Ready, error)
	// Fill initialises ids that will stay empty, in no order; it makes no producer. It returns when all are initialised or ctx ends,
	// and then sends nothing more.
	Fill(ctx context.Context, cfg Config, ids []string) error
	// OpenPlain creates a producer without transactions (AT_LEAST_ONCE, NONE).
	OpenPlain(ctx context.Context, cfg Config) (Plain, error)
}

// Ready is an initialised transactional producer without a transaction.
type Ready interface {
	Identity() Identity
	// Begin opens the transaction (a local step). The Ready is consumed.
	Begin() (Open, error)
	// Discard destroys the producer; its id stays initialised and empty.
	Discard()
}

// Open is a producer with an open transaction. Produce, Flush, Seal and Abort are called by one goroutine at a time.
type Open interface {
	Identity() Identity
	// Produce enqueues every record or fails the epoch; a full queue blocks until ctx ends or Config.MaxBlock passes.
	Produce(ctx context.Context, r *Records) error
	Counters() Counters
	// Err is the first asynchronous failure (a delivery report, a fatal error), nil while there is none.
	Err() error
	// Seal flushes and proves the epoch (kafka.md 4.4): rows == accepted == acknowledged, nothing failed, nothing fatal,
	// identity unchanged. The Open is consumed, also on error (then it is destroyed without ending the transaction).
	Seal(ctx context.Context, rows int64) (Sealed, error)
	// Abort ends a transaction that is known to have failed or is not wanted, bounded by ctx, and destroys the producer.
	Abort(ctx context.Context) error
	// Discard destroys the producer and leaves the transaction as it is.
	Discard()
}

// Sealed is a flushed and proven transaction that belongs to the committer now.
type Sealed interface {
	Identity() Identity
	Rows() int64
	// Release destroys the producer; the transaction stays Ongoing.
	Release()
}

// Plain is a producer without transactions. Produce and Flush are called by one goroutine at a time.
type Plain interface {
	Produce(ctx context.Context, r *Records) error
	// Flush returns when everything produced so far is acknowledged, or with the first failure.
	Flush(ctx context.Context) error
	Counters() Counters
	Err() error
	// Close destroys the producer; unacknowledged records are lost.
	Close()
}
