// Package rdkafka is the first producer engine: a client of our own over the librdkafka that confluent-kafka-go bundles.
// That module only carries the static library into the link; none of its Go code runs. Why not its producer: its event
// path costs more per record than librdkafka itself, its flush sleeps in slices of 100 ms, and it hides the delivery
// counters that the seal rule needs (kafka.md 4).
//
// # Threads
//
// Each producer has librdkafka's own threads plus one poll thread of ours. Acknowledgements are counted in C on the thread of the
// broker's connection, which also wakes up a flush with the last of them; the poll thread serves what is rare: reports of failed
// records, errors and statistics. A batch is enqueued by one call into C. Log lines arrive on any thread and go to slog.
//
// # Ownership
//
// Values, keys and offsets are copied by librdkafka while Produce runs. A producer is destroyed on a goroutine of its own,
// off every path that somebody waits for; Engine.Producers counts it until that has ended.
//
// # Files
//
//	engine.go       the engine: validate, init, open
//	config.go       producer.Config -> librdkafka's options
//	client.go       one librdkafka producer, wrapped for Go
//	produce.go      batches of records and their partitions; shape.go checks what C will read
//	relay.go        the way to the transaction coordinator, which asks the lease before anything leaves
//	fill.go         ids of skipped checkpoints
//	transaction.go  Ready, Open, Sealed and the seal rule
//	plain.go        the producer without transactions
//	identity.go     the coordinator's word on an identity (DescribeTransactions)
//	fault.go        result codes -> producer.Error
//	client.c        the client itself; penstock_rdkafka.h says what each function promises
package rdkafka
