package app

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/daemontest"
)

// notified is a service manager's end of NOTIFY_SOCKET, and a keeper that talks to it.
func notified(t *testing.T) (*net.UnixConn, *keeper, *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { manager.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	log := &bytes.Buffer{}
	return manager, newKeeper(slog.New(slog.NewTextHandler(log, nil)), 1).(*keeper), log
}

// message is what the manager is told next, with its descriptor or -1.
func message(t *testing.T, manager *net.UnixConn) (string, int) {
	t.Helper()
	manager.SetReadDeadline(time.Now().Add(daemontest.Deadline))
	text, control := make([]byte, 200), make([]byte, unix.CmsgSpace(4))
	n, controls, _, _, err := manager.ReadMsgUnix(text, control)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:controls])
	if err != nil || len(messages) == 0 {
		return string(text[:n]), -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text[:n]), fds[0]
}

// TestForgetWaitsForTheManager: the pages are free when the manager has let go, not when it was asked.
func TestForgetWaitsForTheManager(t *testing.T) {
	manager, keeper, log := notified(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "segment"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	keeper.Keep("name", int(file.Fd()))
	told, fd := message(t, manager)
	var st, want unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || unix.Fstat(int(file.Fd()), &want) != nil || st.Ino != want.Ino {
		t.Errorf("descriptor %d is another file, %v", fd, err)
	}
	unix.Close(fd)
	if told != "FDSTORE=1\nFDPOLL=0\nFDNAME=name" {
		t.Errorf("told %q", told)
	}
	forgotten := make(chan struct{})
	go func() { keeper.Forget("name"); close(forgotten) }()
	if told, fd := message(t, manager); told != "FDSTOREREMOVE=1\nFDNAME=name" || fd != -1 {
		t.Errorf("told %q with %d", told, fd)
	}
	told, fd = message(t, manager)
	if told != "BARRIER=1" || fd == -1 {
		t.Fatalf("told %q with %d", told, fd)
	}
	select {
	case <-forgotten:
		t.Error("Forget does not wait for the manager")
	case <-time.After(50 * time.Millisecond):
	}
	unix.Close(fd)
	select {
	case <-forgotten:
	case <-time.After(daemontest.Deadline):
		t.Error("Forget waits for ever")
	}
	if log.Len() != 0 {
		t.Errorf("all went well, and the log has %s", log)
	}
}

// TestAManagerThatDoesNotReadHoldsUpNobody: not for longer than notifyTimeout, and the log says so.
func TestAManagerThatDoesNotReadHoldsUpNobody(t *testing.T) {
	_, keeper, log := notified(t)
	begun := time.Now()
	keeper.Forget("name")
	if took := time.Since(begun); took < notifyTimeout || took > daemontest.Deadline {
		t.Errorf("it took %v, the bound is %v", took, notifyTimeout)
	}
	if !strings.Contains(log.String(), "segment=name") || !strings.Contains(log.String(), "not answered within") {
		t.Errorf("the log says %q", log)
	}
}

// TestWithoutAManagerNothingIsKept: a container, a shell.
func TestWithoutAManagerNothingIsKept(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if k := newKeeper(slog.New(slog.DiscardHandler), 1); k != nil {
		t.Errorf("%v", k)
	}
}
