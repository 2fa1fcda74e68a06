// Package listen makes the daemon's Unix sockets: a private folder, a lock that keeps a second daemon out, removal of what a
// dead daemon left, permissions that are in force before the first connection, and the check of every peer's user and group.
// Sockets that a service manager made (socket activation) are taken over by their paths; descriptors that it kept are handed on.
//
// Order of Bind, and why: lock (from here on a socket file at the path belongs to nobody alive), remove the stale file, bind,
// chmod, listen. Nobody can connect between bind and listen, so there is no moment with wider permissions.
package listen
