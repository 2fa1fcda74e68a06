package shm

import (
	"errors"
	"fmt"
)

// ErrClosed says that the arena, the table or the segment is gone.
var ErrClosed = errors.New("shared memory is closed")

// StaleError says that a slot's generation or state is not the one that the handle names: the batch was claimed, given up
// or revoked before. It maps to STALE_HANDLE.
type StaleError struct {
	Slot       uint32
	Generation uint32 // that the handle named
	Found      Word
	Reason     string
}

// Error names the slot, what the handle said and what was found.
func (e *StaleError) Error() string {
	return fmt.Sprintf("slot %d, generation %d: %s (the slot is %v)", e.Slot, e.Generation, e.Reason, e.Found)
}

// ForeignError says that a slot or a segment is not the session's. It maps to FOREIGN_HANDLE.
type ForeignError struct {
	Session uint32
	What    string // "slot" or "segment"
	ID      uint32
	Reason  string
}

// Error names the session, the thing and why it is not the session's.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("session %d: %s %d %s", e.Session, e.What, e.ID, e.Reason)
}

// DescriptorError says that a slot's descriptor cannot be true. It maps to BAD_REQUEST.
type DescriptorError struct {
	Slot   uint32
	Field  string // as in LAYOUT.md
	Value  uint64
	Reason string
}

// Error names the slot, the field, its value and what is wrong with it.
func (e *DescriptorError) Error() string {
	return fmt.Sprintf("slot %d: %s %d %s", e.Slot, e.Field, e.Value, e.Reason)
}

// DeniedError says that the arena has no room for one more segment. It maps to DENIED; nothing was changed and the same
// request may succeed later. All sizes are in bytes.
type DeniedError struct {
	Owner     uint32
	Purpose   string
	Requested int64
	Used      int64 // granted, warm and being made
	Capacity  int64
	// Cause is the kernel's refusal when the capacity would have allowed it; otherwise nil.
	Cause error
}

// Error names who asked for how much, and what to do.
func (e *DeniedError) Error() string {
	text := fmt.Sprintf("shared memory denied: session %d asked for %d bytes for %q; %d of %d bytes of the daemon's arena are used",
		e.Owner, e.Requested, e.Purpose, e.Used, e.Capacity)
	if e.Cause != nil {
		return fmt.Sprintf("%s, but the system refused: %v; raise the daemon's memory or descriptor limit, or lower the arena's capacity", text, e.Cause)
	}
	return text + "; raise the arena's capacity in the daemon's configuration, or run fewer sinks on this node"
}

// Unwrap is the kernel's refusal, if there was one.
func (e *DeniedError) Unwrap() error { return e.Cause }
