// Package memorysoak kills real client processes at random points, against a real penstockd, and sees that every byte comes back:
// `make memory-soak`.
//
//	point.go     where a client dies
//	peer.go      the process that plays the JVM up to its point (this test's binary, started again)
//	victim.go    starts and kills it, and measures until the daemon has given everything back
//	group.go     memory cgroups, in which daemon and clients are limited apart
//	bed.go       penstockd, a broker for the writers, and a neighbour that must be unharmed by it all
package memorysoak
