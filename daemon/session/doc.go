// Package session speaks the raw session socket (proto/penstock/v1/session.proto): one connection per TaskManager JVM, which is
// the life line of everything that the JVM holds.
//
//	accept --> Hello checked --> Welcome + table fd --> { LeaseRequest --> LeaseGrant + fd | LeaseReturn --> LeaseReturned }*
//	              \--> refused                                                  \--> refused (the session goes on)
//	EOF, the end of the process, a protocol error, or Server.Close --> Revoke: writers end, slots FREE, segments gone, account released
//
// A connection that says AttachLine instead of Hello is the line of one writer:
//
//	AttachLine --> the session's token, the writer's offer --> LineAttached --> { WriteRequest --> WriteEvent }* --> the writer's end, or EOF
//	                    \--> refused
//
// Revoke is one routine and may run any number of times, from any side. What becomes of the segments says shm/retire.go; what a writer is
// reading at that moment stays mapped until it has settled. The end of the process is seen by a pidfd that the kernel gives for the
// socket (SO_PEERPIDFD): a child that inherited the socket keeps its end away.
//
// Locks: Server.mu guards the registry, Session.mu one session's holdings; Server.mu is never taken while Session.mu is held.
package session
