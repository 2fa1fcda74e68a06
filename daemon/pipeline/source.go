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
}
