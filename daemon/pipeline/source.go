package pipeline

import "penstock.dev/penstock/shm"

// Source hands out the batches that one session has parked. *session.Session is the real one. It is safe for concurrent use by
// several writers of the session.
type Source interface {
	// Claim checks the slot against the session's leases and takes ownership of it, once. The body of the extent stays
	// mapped until Settle, whatever happens to the session meanwhile.
	Claim(slot, generation uint32) (*shm.Extent, error)
	// Settle gives a claimed batch back to the session, with the slot's generation raised; the body must not be read after
	// it. It fails when the session has ended or when the client overwrote the slot.
	Settle(*shm.Extent) error
	// Size is the length of a parked batch in bytes; the batch stays parked.
	Size(slot, generation uint32) (int, error)
	// Spill takes a parked batch while a disk gets it. The body stays mapped and as it is until Spilled or SpillFailed.
	Spill(slot, generation uint32) (*shm.Extent, error)
	// Spilled gives the memory of a batch back to the session: the disk has it.
	Spilled(*shm.Extent) error
	// SpillFailed leaves a batch parked, as if Spill had not been called.
	SpillFailed(*shm.Extent) error
}
