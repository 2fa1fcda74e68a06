// Package lease bounds the time in which an InitProducerId request may leave this process.
//
// Initialising a transactional id aborts what is open under it. A request of an attempt that is over must therefore not reach the
// broker after the next attempt has sealed the same id: the commit of that transaction would be refused, and its rows lost in
// silence (kafka.md A2). No state is shared between two daemons, so each sees to it alone that its requests do not come late:
//
//   - Every write to a transaction coordinator goes through a Pass, which looks at the clocks of its Lease right before the bytes leave.
//     A process that stood still (SIGSTOP, a frozen container, a suspended machine) finds its lease over when it goes on.
//   - A lease renews itself while the process runs. Once over, only Restart opens it again, which its owner calls when it answers a
//     request: what comes after that answer was sent by somebody who lived to read it. A request that waited in a socket while the
//     process stood still is none of these.
//   - Pass.End, for an initialisation that is cut off, returns when no byte can leave any more.
//   - Bytes that the network did not take within the length are thrown away with the connection (TCP_USER_TIMEOUT), instead of being
//     sent again by the kernel when the network is back.
//
// What remains: a process that stops between the look at the clocks and the system call below it, and a request that the network
// took in time and that waits at the broker.
package lease
