package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MaxPath is the longest path that a Unix socket can have: sockaddr_un has room for 108 bytes with the closing zero.
const MaxPath = 107

// probeTimeout bounds the attempt to reach whoever might listen on a socket file that is in the way.
const probeTimeout = 2 * time.Second

// Socket is a bound and listening Unix socket together with the lock on its path. It is a net.Listener.
type Socket struct {
	*net.UnixListener
	path string
	lock *os.File
	// inherited: the service manager made the socket and goes on listening on it.
	inherited bool
	once      sync.Once
	err       error
}

// Bind listens on path with the given file mode. It fails when another daemon holds the path, when something else than a
// socket is there, or when the path is too long; a socket that nobody listens on is removed.
func Bind(path string, mode os.FileMode) (*Socket, error) {
	if len(path) > MaxPath {
		return nil, fmt.Errorf("socket path %q has %d bytes and the kernel takes at most %d; choose a shorter folder with "+
			"listen.directory or --listen-dir", path, len(path), MaxPath)
	}
	lock, err := lockPath(path)
	if err != nil {
		return nil, err
	}
	listener, err := bindLocked(path, mode)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Socket{UnixListener: listener, path: path, lock: lock}, nil
}

// Path is where the socket lies.
func (s *Socket) Path() string { return s.path }

// Inherited tells whether a service manager made the socket. Such a one is still listened on after Close: whoever connects waits
// for the next daemon.
func (s *Socket) Inherited() bool { return s.inherited }

// Close stops listening, removes the socket file unless it is the service manager's, and gives the lock back. It may be called
// more than once.
func (s *Socket) Close() error {
	s.once.Do(func() {
		s.err = s.UnixListener.Close()
		// The file goes while the lock is held, so that it cannot be a successor's.
		if !s.inherited {
			if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.err = errors.Join(s.err, err)
			}
		}
		s.err = errors.Join(s.err, s.lock.Close())
	})
	return s.err
}

// lockPath takes the lock of a socket path. The lock file is never removed: removing it would let two daemons lock two
// different files of the same name.
func lockPath(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock socket %s: %w", path, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another penstockd serves %s (it holds %s.lock); stop it or choose another folder with "+
				"--listen-dir", path, path)
		}
		return nil, fmt.Errorf("cannot lock %s.lock: %w", path, err)
	}
	return f, nil
}

func bindLocked(path string, mode os.FileMode) (*net.UnixListener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a Unix socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return nil, fmt.Errorf("cannot bind %s: %w", path, err)
	}
	if err := unix.Chmod(path, uint32(mode)); err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("cannot set mode %#o of %s: %w", mode, path, err)
	}
	if err := unix.Listen(fd, 128); err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	listener, err := net.FileListener(file)
	if err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	return listener.(*net.UnixListener), nil
}

// removeStale clears the path while its lock is held. No penstockd is alive here; but another program may be, so the
// socket is removed only when it refuses a connection.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way and is not a socket; remove it or choose another folder with --listen-dir", path)
	}
	conn, err := net.DialTimeout("unix", path, probeTimeout)
	if err == nil {
		conn.Close()
		return fmt.Errorf("another program listens on %s; stop it or choose another folder with --listen-dir", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot tell whether the socket %s is in use: %w; remove it if nobody uses it", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot remove the stale socket %s: %w", path, err)
	}
	return nil
}
