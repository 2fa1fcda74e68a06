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
//	Arena.Lease --> granted --Arena.Return--> wiped, warm --> granted under a new id
//	                   \------Arena.Revoke--> unmapped when the last pin is gone, never granted again
//
// Return says that the client has unmapped the segment. After a session's death nobody can say that, since threads of a
// half-dead JVM may still write; hence Revoke does not recycle.
//
// Arena.mu is the only lock and a leaf. It is not held while memory is created, populated, wiped or unmapped.
//
// The package is for Linux on little-endian machines. It uses no cgo and imports nothing of Penstock.
package shm
