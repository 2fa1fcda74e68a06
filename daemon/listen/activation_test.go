package listen

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// keptPrefix begins the names of what the store hands over.
const keptPrefix = "kept-"

// handOver listens on the paths as a service manager does and gives descriptors that lie side by side, as after an exec.
func handOver(t *testing.T, paths ...string) (first int) {
	t.Helper()
	// High numbers are free, and stay so while only this test makes them.
	first = 700
	for n, path := range paths {
		manager, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { manager.Close() })
		file, err := manager.File()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Dup3(int(file.Fd()), first+n, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	return first
}

func TestInheritedSocketsAreFoundByTheirPath(t *testing.T) {
	folder := t.TempDir()
	session, api := filepath.Join(folder, "session.sock"), filepath.Join(folder, "api.sock")
	// In the other order than they are asked for.
	i, err := inheritFrom(handOver(t, api, session), 2, "penstockd.socket:penstockd.socket", keptPrefix)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	for _, path := range []string{session, api} {
		early, err := net.Dial("unix", path) // before anybody accepts
		if err != nil {
			t.Fatal(err)
		}
		defer early.Close()
		s, err := i.Bind(path, 0o600)
		if err != nil || !s.Inherited() || s.Path() != path {
			t.Fatalf("%s: %+v, %v", path, s, err)
		}
		conn, err := s.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		// The second daemon is kept out although the manager made the socket.
		if _, err := Bind(path, 0o600); err == nil {
			t.Error("a second daemon binds the path")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("the manager's socket file is gone: %v", err)
		}
		late, err := net.Dial("unix", path)
		if err != nil {
			t.Fatalf("the manager's socket does not take connections after Close: %v", err)
		}
		late.Close()
	}
	if err := i.Finish(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNotHandedOverIsBound(t *testing.T) {
	i := &Inheritance{}
	path := filepath.Join(t.TempDir(), "s.sock")
	s, err := i.Bind(path, 0o660)
	if err != nil || s.Inherited() {
		t.Fatalf("%+v, %v", s, err)
	}
	s.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket file is left over: %v", err)
	}
}

func TestSocketsThatNobodyServesAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.sock")
	i, err := inheritFrom(handOver(t, path), 1, "penstockd.socket", keptPrefix)
	if err != nil {
		t.Fatal(err)
	}
	requireError(t, i.Finish(), path+" (penstockd.socket)", "ListenStream=", "listen.session_socket")
	if i.Any() {
		t.Error("it is still held")
	}
}

func TestWhatIsNoListeningSocketIsRefused(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	tcpFile, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer tcpFile.Close()
	bound, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(bound, &unix.SockaddrUnix{Name: filepath.Join(t.TempDir(), "deaf.sock")})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(bound)
	for name, fd := range map[string]int{"deaf": bound, "file": int(file.Fd()), "pair": pair[0], "tcp": int(tcpFile.Fd())} {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 710)
		if err != nil {
			t.Fatal(err)
		}
		_, err = inheritFrom(dup, 1, name, keptPrefix)
		requireError(t, err, `"`+name+`"`, "ListenStream=")
	}
	unix.Close(pair[0])
}

// TestTheStoreComesWithTheSockets: between them, as no manager does, and whatever it is.
func TestTheStoreComesWithTheSockets(t *testing.T) {
	folder := t.TempDir()
	paths := []string{filepath.Join(folder, "a.sock"), filepath.Join(folder, "b.sock")}
	first := handOver(t, paths[0], filepath.Join(folder, "replaced.sock"), paths[1])
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	if err := unix.Dup3(pipe[0], first+1, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	unix.Close(pipe[0])
	i, err := inheritFrom(first, 3, "penstockd.socket:kept-1:penstockd.socket", keptPrefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		s, err := i.Bind(path, 0o600)
		if err != nil || !s.Inherited() {
			t.Fatalf("%s: %+v, %v", path, s, err)
		}
		defer s.Close()
	}
	if err := i.Finish(); err != nil {
		t.Errorf("what the store has is no socket that nobody serves: %v", err)
	}
	kept := i.Kept()
	if len(kept) != 1 || kept[0] != (Kept{"kept-1", first + 1}) || len(i.Kept()) != 0 {
		t.Errorf("%+v", kept)
	}
	i.Close()
	if err := unix.Close(first + 1); err != nil {
		t.Errorf("what was handed over is closed: %v", err)
	}
}

func TestVariablesOfAnotherProcess(t *testing.T) {
	for _, variable := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		t.Setenv(variable, "1")
	}
	i, err := Inherit(keptPrefix)
	if err != nil || i.Any() {
		t.Errorf("%+v, %v; want nothing, it is meant for process 1", i, err)
	}
	if value, set := os.LookupEnv("LISTEN_FDS"); set {
		t.Errorf("LISTEN_FDS = %q is left for children", value)
	}
}

func TestWhatNobodyTookOfTheStoreIsClosed(t *testing.T) {
	first := handOver(t, filepath.Join(t.TempDir(), "s.sock"))
	i, err := inheritFrom(first, 1, "kept-1", keptPrefix)
	if err != nil || i.Any() {
		t.Fatalf("%+v, %v", i, err)
	}
	i.Close()
	if unix.Close(first) == nil {
		t.Error("it is left open")
	}
}
