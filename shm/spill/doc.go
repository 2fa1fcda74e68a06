// Package spill keeps batches on a disk while nobody can take them: what a sink writer has parked beyond its high water while its broker
// stands still. The caller gives a batch (its bytes in shared memory), gets the memory back when the disk has it, and claims the batch
// later, once.
//
// # The states of a batch
//
//	           failed
//	  +-----------------------+
//	  v                       |
//	PARKED -----spill-----> SPILLING -----written-----> ON_DISK -----claim-----> CLAIMED
//	                          |                            |                        |
//	                         drop                         drop                   release
//	                          v                            v                        v
//	                       DOOMED ---written, failed---> GONE <---------------------+
//
// A batch whose write failed is PARKED again and unharmed: its bytes were only read. A batch that is dropped while it is being written
// waits for the end of the write, since the kernel reads its memory until then. The caller is told of the end of every write, exactly
// once. The table stands in state.go; it is pure, and tests go through all of it.
//
// # Files
//
// Each writer has a Stream: files that are written one after the other and read in the same order. A file is an Arrow IPC stream:
//
//	| schema message | entry | entry | ... | end of stream |
//	entry: | record batch message | the batch, as in shared memory | padding | trailer, 64 bytes |
//
// The trailer is a part of the Arrow body that no buffer names. It has the entry's number and lengths, the daemon's id, and the CRC32C of
// all bytes of the entry before it, and of itself. What is read back must agree with it and with the index in memory, or the claim fails
// with a *CorruptError: never wrong bytes. Everything begins at a multiple of 64.
//
// A file that is large enough is sealed: it gets its end and is never written again. It lives until its last batch is gone. A new Store
// deletes what daemons that are dead have left in its folder, and nothing else: each living daemon holds a lock on a file of its own.
// Nothing here outlives the daemon, so a disk that loses its power loses nothing that Flink would not replay.
//
// # Bounds
//
// One goroutine writes. It takes what has come together (GroupBytes at most), writes it with pwritev from shared memory, and tells
// nobody before fdatasync has returned: memory is given back only when the disk has the batch. Its queue is bounded; the heap that reads need is
// bounded for all streams together (ReadBytes). The quota counts whole files, pending writes included.
//
// # Locks
//
// Store.mu is the only lock and a leaf. It is never held during I/O nor while a callback runs. Callbacks run on the goroutine that
// writes and must not wait for the Store.
//
// The package knows neither what a batch holds nor Kafka. Pages that a client can change are read by the kernel, but for one checksum, which turns
// a fault into an error.
package spill
