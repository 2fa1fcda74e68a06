// Package pipeline takes the batches of one sink writer from shared memory to its Kafka producer: claim, parse, encode, settle,
// produce; and drives the writer's epochs.
//
//	SubmitBatch --> Source.Claim --> columnar.Parser --> encode.RecordEncoder --> Source.Settle --> epoch.Writer.Produce
//
// The slot is settled as soon as the encoder has written its own copy, so the client reuses the extent while the broker is
// still being talked to. One Writer belongs to one goroutine, that of its gRPC stream; only Status and Progress-free fields
// documented so may be read by others.
//
// The first failure of a Writer is its last: the epoch's rows are lost and Flink must replay them. Every later request is
// answered with the same failure, and batches that are still submitted are settled unread, so that the client gets its memory
// back.
package pipeline
