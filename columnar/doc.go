// Package columnar describes batches of rows as Arrow columns: the logical types of Flink, the buffers of each type, and a
// parser that turns the bytes of one batch (shm/LAYOUT.md, section Batches) into vectors without copying them.
//
// It knows neither shared memory nor Kafka. The daemon's pipeline parses a claimed extent with it and hands the result to
// an encoder; a future source would build batches with it. Bytes are foreign: Parse checks every length and offset table
// against the bytes that are there, and encoders index only through slices, so that a client that changes a batch while
// it is read can spoil its own rows and nothing else.
package columnar
