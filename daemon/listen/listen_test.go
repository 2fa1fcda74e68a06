package listen

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func bind(t *testing.T, path string) *Socket {
	t.Helper()
	s, err := Bind(path, 0o660)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func requireError(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", wants)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestModeOfTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	bind(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("mode %v, %v; want 0660", info.Mode(), err)
	}
}

func TestSecondDaemonIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	first := bind(t, path)
	_, err := Bind(path, 0o660)
	requireError(t, err, "another penstockd serves "+path, "--listen-dir")
	if _, err := net.Dial("unix", path); err != nil {
		t.Errorf("the refused daemon broke the first one's socket: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket file is still there: %v", err)
	}
	bind(t, path)
}

func TestStaleSocketIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the test left no stale socket")
	}
	bind(t, path)
	if _, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	}
}

func TestWhatIsInTheWayIsNotRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Bind(path, 0o660)
	requireError(t, err, "is not a socket")
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Error("the file was touched")
	}

	alive := filepath.Join(t.TempDir(), "alive.sock")
	other, err := net.Listen("unix", alive)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = Bind(alive, 0o660)
	requireError(t, err, "another program listens on "+alive)
}

func TestLongPath(t *testing.T) {
	_, err := Bind("/tmp/"+strings.Repeat("x", 110), 0o660)
	requireError(t, err, "115 bytes", "at most 107", "listen.directory")
}

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	if err := PrepareFolder(path, 0o750); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v; want 0750", info.Mode(), err)
	}
	if err := PrepareFolder(path, 0o750); err != nil {
		t.Errorf("an existing private folder is refused: %v", err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	requireError(t, PrepareFolder(path, 0o750), "can be written by everybody (mode 0777)")
	file := filepath.Join(path, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	requireError(t, PrepareFolder(file, 0o750), "is not a folder")
}

func TestGuardTurnsStrangersAway(t *testing.T) {
	own, err := net.Dial("unix", bind(t, filepath.Join(t.TempDir(), "own.sock")).Path())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := PeerOf(own.(*net.UnixConn))
	if err != nil || peer.UID != uint32(os.Geteuid()) || peer.GID != uint32(os.Getegid()) {
		t.Fatalf("peer %v, %v", peer, err)
	}

	for _, test := range []struct {
		allow AllowList
		in    bool
	}{
		{AllowList{UIDs: []uint32{peer.UID}}, true},
		{AllowList{GIDs: []uint32{peer.GID}}, true},
		{AllowList{UIDs: []uint32{peer.UID + 1}, GIDs: []uint32{peer.GID + 1}}, false},
	} {
		socket := bind(t, filepath.Join(t.TempDir(), "g.sock"))
		refused := make(chan error, 1)
		guard := &Guard{Socket: socket, Allow: test.allow, Refuse: func(_ *net.UnixConn, err error) { refused <- err }}
		accepted := make(chan net.Conn, 1)
		go func() {
			if conn, err := guard.Accept(); err == nil {
				accepted <- conn
			}
		}()
		client, err := net.Dial("unix", socket.Path())
		if err != nil {
			t.Fatal(err)
		}
		client.SetDeadline(time.Now().Add(10 * time.Second))
		select {
		case conn := <-accepted:
			conn.Close()
			if !test.in {
				t.Errorf("%+v lets a stranger in", test.allow)
			}
		case err := <-refused:
			if test.in {
				t.Errorf("%+v keeps its own user out: %v", test.allow, err)
			}
			requireError(t, err, "is not allowed", "listen.allow_uids", "uid")
			if _, err := client.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("the stranger's connection reads %v, want EOF", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("neither accepted nor refused")
		}
		client.Close()
	}
}
