// Package session speaks the raw session socket (proto/penstock/v1/session.proto): one connection per TaskManager JVM, which is
// the life line of everything that the JVM holds.
//
//	accept --> Hello checked --> Welcome + table fd --> { LeaseRequest --> LeaseGrant + fd | LeaseReturn --> LeaseReturned }*
//	              \--> refused                                                  \--> refused (the session goes on)
//	EOF, a protocol error, or Server.Close --> revoke: writers end, slots FREE, segments gone, account released
//
// revoke is one routine and may run any number of times. Segments of an ended session are not recycled, because a half-dead JVM
// may still write into them; shm keeps what a writer is reading at that moment mapped until it has settled.
//
// Locks: Server.mu guards the registry, Session.mu one session's holdings; Server.mu is never taken while Session.mu is held.
package session
