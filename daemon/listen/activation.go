package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// firstInherited is the number of the first descriptor that a service manager hands over, SD_LISTEN_FDS_START of
// sd_listen_fds(3).
const firstInherited = 3

// Inheritance is what a service manager handed to this process: the listening sockets that it made, and the descriptors that an
// earlier process of the service had it keep. The zero value has none. It is not safe for concurrent use.
type Inheritance struct {
	sockets []inherited
	kept    []Kept
}

// Kept is a descriptor out of the service manager's file descriptor store, and the name under which it was put there.
type Kept struct {
	Name string
	FD   int
}

type inherited struct {
	file *os.File
	name string
	path string
}

// Inherit takes what LISTEN_FDS announces, when LISTEN_PID names this process (sd_listen_fds(3)), and removes the variables so
// that no child believes them. Descriptors whose names begin with kept come from the manager's store, and nothing is known of them; any
// other that is no listening Unix socket with a path is an error.
func Inherit(kept string) (*Inheritance, error) {
	pid, fds, names := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_FDNAMES")
	for _, variable := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(variable)
	}
	if fds == "" || pid != strconv.Itoa(os.Getpid()) {
		return &Inheritance{}, nil
	}
	count, err := strconv.Atoi(fds)
	if err != nil || count < 0 {
		return nil, fmt.Errorf("LISTEN_FDS = %q is not a number of sockets; start penstockd by its unit file or without that variable", fds)
	}
	return inheritFrom(firstInherited, count, names, kept)
}

// inheritFrom takes count descriptors from first on. names is a list with colons between, as in LISTEN_FDNAMES.
func inheritFrom(first, count int, names, kept string) (*Inheritance, error) {
	i := &Inheritance{}
	named := strings.Split(names, ":")
	for n := range count {
		name := "unknown"
		if n < len(named) && named[n] != "" {
			name = named[n]
		}
		unix.CloseOnExec(first + n)
		if strings.HasPrefix(name, kept) {
			i.kept = append(i.kept, Kept{name, first + n})
			continue
		}
		s := inherited{file: os.NewFile(uintptr(first+n), name), name: name}
		i.sockets = append(i.sockets, s)
		path, err := listeningPath(first + n)
		if err != nil {
			i.Close()
			return nil, fmt.Errorf("socket %q of the service manager (descriptor %d): %w; correct ListenStream= in penstockd.socket",
				name, first+n, err)
		}
		i.sockets[len(i.sockets)-1].path = path
	}
	return i, nil
}

// listeningPath is where a listening Unix stream socket is bound.
func listeningPath(fd int) (string, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return "", fmt.Errorf("not a socket: %w", err)
	}
	accepts, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return "", err
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return "", err
	}
	local, ok := address.(*unix.SockaddrUnix)
	if !ok || kind != unix.SOCK_STREAM || accepts == 0 || !filepath.IsAbs(local.Name) {
		return "", errors.New("not a listening Unix stream socket with a path")
	}
	return local.Name, nil
}

// Any tells whether the service manager handed over sockets.
func (i *Inheritance) Any() bool { return len(i.sockets) > 0 }

// Kept hands over the descriptors of the store; they are the caller's from now on.
func (i *Inheritance) Kept() []Kept {
	kept := i.kept
	i.kept = nil
	return kept
}

// Bind is Bind for a path that the service manager listens on already, and plain Bind for any other. The file of an inherited
// socket stays where it is on Close, since it is the manager's, with the manager's mode.
func (i *Inheritance) Bind(path string, mode os.FileMode) (*Socket, error) {
	for n, s := range i.sockets {
		if filepath.Clean(s.path) != filepath.Clean(path) {
			continue
		}
		lock, err := lockPath(path)
		if err != nil {
			return nil, err
		}
		listener, err := net.FileListener(s.file)
		if err != nil {
			lock.Close()
			return nil, fmt.Errorf("cannot listen on %s of the service manager: %w", path, err)
		}
		s.file.Close()
		i.sockets = append(i.sockets[:n], i.sockets[n+1:]...)
		return &Socket{UnixListener: listener.(*net.UnixListener), path: path, lock: lock, inherited: true}, nil
	}
	return Bind(path, mode)
}

// Finish closes the sockets that nobody asked for and says so: clients would connect to such a one and wait for an answer.
func (i *Inheritance) Finish() error {
	defer i.closeSockets()
	var unused []string
	for _, s := range i.sockets {
		unused = append(unused, fmt.Sprintf("%s (%s)", s.path, s.name))
	}
	if len(unused) == 0 {
		return nil
	}
	return fmt.Errorf("the service manager listens on %s, which is neither listen.session_socket nor listen.api_socket; let "+
		"ListenStream= of penstockd.socket and the configuration name the same paths", strings.Join(unused, ", "))
}

// Close closes what has not been bound or handed over. It may be called more than once.
func (i *Inheritance) Close() {
	for _, k := range i.kept {
		unix.Close(k.FD)
	}
	i.kept = nil
	i.closeSockets()
}

func (i *Inheritance) closeSockets() {
	for _, s := range i.sockets {
		s.file.Close()
	}
	i.sockets = nil
}
