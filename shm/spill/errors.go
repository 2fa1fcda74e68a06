package spill

import (
	"errors"
	"fmt"
)

var (
	// ErrBusy says that the queue of the disk is full; the batch is PARKED and unharmed, and a later attempt may succeed.
	ErrBusy = errors.New("the queue of the spill disk is full")
	// ErrClosed says that the store or the stream is closed; nothing was changed.
	ErrClosed = errors.New("the spill store is closed")
	// ErrDropped is told to the owner of a batch that was dropped while it was being written: the write has ended.
	ErrDropped = errors.New("the spilled batch was dropped")
)

// QuotaError says that a batch does not fit into the quota. It is PARKED and unharmed; the same attempt may succeed when other batches
// have been claimed. Sizes are in bytes.
type QuotaError struct {
	Directory string
	Requested int64
	Used      int64
	Quota     int64
}

// Error has the numbers and what to do.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("spill: %d bytes do not fit into spill.quota = %d, of which %d are used in %s; raise the quota, or see why the broker "+
		"takes no records", e.Requested, e.Quota, e.Used, e.Directory)
}

// TooLargeError says that a batch is larger than what may be read back at once. It stays PARKED. Sizes are in bytes.
type TooLargeError struct{ Bytes, Limit int64 }

// Error has the numbers.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("spill: a batch of %d bytes stays in memory: at most %d bytes are read back at once", e.Bytes, e.Limit)
}

// WriteError says that the disk refused a batch (for example with ENOSPC or EIO). It is PARKED again and unharmed.
type WriteError struct {
	Path  string
	Cause error
}

// Error names the file and the kernel's answer.
func (e *WriteError) Error() string {
	return fmt.Sprintf("spill: writing %s: %v; free the disk or lower spill.quota", e.Path, e.Cause)
}

// Unwrap is the kernel's answer.
func (e *WriteError) Unwrap() error { return e.Cause }

// ReadError says that the disk does not give a batch back. The batch is lost, and with it its epoch: Flink replays it.
type ReadError struct {
	Path  string
	Entry uint64
	Cause error
}

// Error names the file and the kernel's answer.
func (e *ReadError) Error() string {
	return fmt.Sprintf("spill: reading batch %d back from %s: %v; its epoch fails and is replayed; see to the disk", e.Entry, e.Path, e.Cause)
}

// Unwrap is the kernel's answer.
func (e *ReadError) Unwrap() error { return e.Cause }

// CorruptError says that what the disk gave back is not what was written. The batch is lost, and with it its epoch: Flink replays it.
type CorruptError struct {
	Path   string
	Entry  uint64
	Reason string
}

// Error names the file and what is wrong.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("spill: batch %d of %s is damaged: %s; its epoch fails and is replayed; see to the disk", e.Entry, e.Path, e.Reason)
}
