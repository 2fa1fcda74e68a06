package listen

import (
	"fmt"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Peer is who was at the other end when it connected (SO_PEERCRED). PID is for logs only: it is 0 across pid namespaces, and
// a user without a mapping in our user namespace shows as 65534.
type Peer struct {
	UID, GID uint32
	PID      int32
}

// String is for logs and refusals.
func (p Peer) String() string { return fmt.Sprintf("uid %d, gid %d, pid %d", p.UID, p.GID, p.PID) }

// PeerOf asks the kernel who connected.
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return Peer{}, fmt.Errorf("peer credentials: %w", err)
	}
	return Peer{UID: cred.Uid, GID: cred.Gid, PID: cred.Pid}, nil
}

// ProcessOf is a descriptor of the process that connected (SO_PEERPIDFD, kernels from 6.5 on), which becomes readable when that process
// ends, also when a child of it keeps the connection open and in other pid namespaces. An error says that this kernel has none.
// The caller closes it.
func ProcessOf(conn *net.UnixConn) (*os.File, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	pidfd, optErr := -1, error(nil)
	err = raw.Control(func(fd uintptr) { pidfd, optErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD) })
	if err == nil {
		err = optErr
	}
	if err != nil {
		return nil, fmt.Errorf("SO_PEERPIDFD: %w", err)
	}
	// Non-blocking, so that the runtime's poller waits for it.
	if err := unix.SetNonblock(pidfd, true); err != nil {
		_ = unix.Close(pidfd)
		return nil, fmt.Errorf("pidfd of a peer: %w", err)
	}
	return os.NewFile(uintptr(pidfd), "pidfd"), nil
}

// AwaitEnd returns true when the process of a descriptor by ProcessOf has ended, and false when the descriptor was closed before.
func AwaitEnd(process *os.File) bool {
	raw, err := process.SyscallConn()
	if err != nil {
		return false
	}
	ended := false
	err = raw.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		ended = err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
		return ended
	})
	return err == nil && ended
}

// AllowList says which peers may connect: those with one of the user ids or one of the group ids.
type AllowList struct {
	UIDs, GIDs []uint32
}

// Check refuses a peer that is in neither list, in words for whoever administers the two processes.
func (a AllowList) Check(p Peer) error {
	if slices.Contains(a.UIDs, p.UID) || slices.Contains(a.GIDs, p.GID) {
		return nil
	}
	return fmt.Errorf("this process (%v) is not allowed to use penstockd: listen.allow_uids = %v, listen.allow_gids = %v; "+
		"add its uid or gid there, or run it as an allowed user", p, a.UIDs, a.GIDs)
}

// Guard is a listener that hands out only connections of allowed peers.
type Guard struct {
	*Socket
	Allow AllowList
	// Refuse learns of every peer that is turned away and may answer it; the connection is closed afterwards. It must
	// not block: it runs in the accept loop.
	Refuse func(*net.UnixConn, error)
}

// Accept waits for the next allowed peer.
func (g *Guard) Accept() (net.Conn, error) {
	for {
		conn, err := g.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, err := PeerOf(conn)
		if err == nil {
			err = g.Allow.Check(peer)
		}
		if err == nil {
			return conn, nil
		}
		g.Refuse(conn, err)
		conn.Close()
	}
}
