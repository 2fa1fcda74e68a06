package doctor

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/listen"
)

// sockets looks at the folder and at both sockets, as the user that it runs as: run it as the TaskManager's.
func (d *diagnosis) sockets() {
	l := &d.Config.Listen
	if !d.folder(l.Directory) {
		return
	}
	d.socket("sockets.session", l.SessionPath())
	d.socket("sockets.api", l.APIPath())
	d.allowed()
}

func (d *diagnosis) folder(path string) bool {
	const check = "sockets.folder"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := unix.Access(existing(path), unix.W_OK); err != nil {
			d.fail(check, "create it for the daemon's user (RuntimeDirectory= of the unit file does), or choose another listen.directory",
				"%s does not exist, and user %d may not create it", path, os.Geteuid())
			return false
		}
		d.warn(check, "start penstockd, which creates it", "%s does not exist", path)
		return false
	case err != nil:
		d.fail(check, "give this user (uid, group) the right to enter the folders above it", "%v", err)
		return false
	case !info.IsDir():
		d.fail(check, "remove it or choose another listen.directory", "%s is not a folder", path)
		return false
	case info.Mode().Perm()&0o002 != 0:
		d.fail(check, "chmod o-w "+path+", or choose a folder inside it: whoever can replace a socket can play the daemon",
			"%s can be written by everybody (mode %#o)", path, info.Mode().Perm())
		return false
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		d.fail(check, "run this as the TaskManager's user, or let its group enter (listen.directory_mode, or a group of that user)",
			"user %d may not enter %s (mode %#o)", os.Geteuid(), path, info.Mode().Perm())
		return false
	}
	d.ok(check, "%s, mode %#o", path, info.Mode().Perm())
	return true
}

// existing is the nearest folder above path that is there.
func existing(path string) string {
	for {
		path = filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || path == "/" {
			return path
		}
	}
}

func (d *diagnosis) socket(check, path string) {
	conn, err := net.DialTimeout("unix", path, d.Timeout)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.warn(check, "start penstockd with this configuration; until then the stock sink does the job", "nobody listens at %s", path)
	case errors.Is(err, syscall.ECONNREFUSED):
		d.warn(check, "start penstockd, which removes it; its last life ended without a chance to", "%s is a left-over socket", path)
	case errors.Is(err, fs.ErrPermission):
		d.fail(check, "let the TaskManager's user or group open it (listen.socket_mode; SocketUser=, SocketGroup= of the unit file)",
			"user %d may not connect to %s", os.Geteuid(), path)
	case err != nil:
		d.fail(check, "remove what is there if nobody uses it, and start penstockd", "%v", err)
	default:
		defer conn.Close()
		d.listener(check, path, conn.(*net.UnixConn))
	}
}

// listener judges whose socket it is. A service manager's belongs to root.
func (d *diagnosis) listener(check, path string, conn *net.UnixConn) {
	peer, err := listen.PeerOf(conn)
	if err != nil {
		d.fail(check, "look at the kernel's log", "%v", err)
		return
	}
	if own := uint32(os.Geteuid()); peer.UID != own && peer.UID != 0 && own != 0 {
		d.fail(check, "run penstockd and the TaskManager as one user: a segment can be opened by its owner only",
			"%s is user %d's, this is user %d", path, peer.UID, own)
		return
	}
	d.ok(check, "somebody listens at %s (%v)", path, peer)
}

// allowed asks the allow-lists about this process, as the daemon does at every connection.
func (d *diagnosis) allowed() {
	uids, gids := d.Config.Listen.Peers()
	own := listen.Peer{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), PID: int32(os.Getpid())}
	if err := (listen.AllowList{UIDs: uids, GIDs: gids}).Check(own); err != nil {
		d.fail("sockets.peers", "add the TaskManager's uid to listen.allow_uids, or run this as the TaskManager's user",
			"listen.allow_uids = %v, listen.allow_gids = %v do not let in %v", uids, gids, own)
		return
	}
	d.ok("sockets.peers", "this user (%v) is let in", own)
}
