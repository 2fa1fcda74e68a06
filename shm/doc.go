// Package shm is the shared memory between penstockd and the JVMs: segments, the handle table, and the one place where
// foreign bytes become trusted numbers. LAYOUT.md has the pictures; layout.go the offsets; state.go the legal moves.
//
// The daemon owns every segment: it creates the memfd, populates it, seals it and only then hands out a descriptor. A client
// writes into what it was granted and may write anything there at any time, so nothing read from shared memory is believed:
// which session holds which segment and which slot is claimed is kept in private memory (Arena, Table), a descriptor is
// copied once before it is checked (View), and a segment stays mapped while somebody in the daemon reads it (pins).
//
// Life of a segment:
//
//	Arena.Lease --> granted --Return, Revoke, last pin--> nobody else holds it --> wiped, warm --> granted under a new id
//	                                                 \--> a client still maps it: an orphan, until it does not
//
// Whether a client still holds a segment is asked of the kernel (holders_linux.go), not of the client: threads of a half-dead JVM may
// still write, and a client that keeps what it returned could read the next session's rows.
//
// A Keeper (a service manager, say) may hold the descriptors of data segments beyond the daemon's end. The next daemon takes them over
// (Arena.Adopt) so that their pages stay in the books while clients hold them, and are not made a second time. No session goes on with
// them: the arena id is a new one.
//
// Arena.mu guards everything and is a leaf; Arena.making lets segments be made one at a time. mu is not held while memory is created, populated, wiped or unmapped.
//
// The package is for Linux on little-endian machines. It uses no cgo and imports nothing of Penstock.
package shm
