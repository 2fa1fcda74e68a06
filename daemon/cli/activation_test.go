package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
)

// asDaemon makes the test binary play penstockd with its arguments: a service manager starts processes.
const asDaemon = "PENSTOCK_TEST_AS_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(asDaemon) != "" {
		os.Unsetenv(asDaemon)
		os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	if path := os.Getenv(asClient); path != "" {
		playClient(path)
	}
	os.Exit(m.Run())
}

// startActivated starts penstockd as systemd does: sockets from descriptor 3 on, LISTEN_PID its own number. The shell keeps its
// number over exec.
func startActivated(t *testing.T, log *log, files []*os.File, env []string, args ...string) (*exec.Cmd, chan error) {
	t.Helper()
	return startNamed(t, log, files, slices.Repeat([]string{"penstockd.socket"}, len(files)), env, args...)
}

// startNamed is startActivated for descriptors with names of their own.
func startNamed(t *testing.T, log *log, files []*os.File, names, env []string, args ...string) (*exec.Cmd, chan error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, self}, args...)...)
	cmd.Env = append(os.Environ(), append(env, asDaemon+"=1", fmt.Sprintf("LISTEN_FDS=%d", len(files)),
		"LISTEN_FDNAMES="+strings.Join(names, ":"))...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = files, log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, ended
}

// endOf waits for a process that was started, and kills one that does not end.
func endOf(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	late := time.AfterFunc(daemontest.Deadline, func() { cmd.Process.Kill() })
	defer late.Stop()
	return cmd.Wait()
}

// managerSocket listens as the socket unit does, for as long as the test runs.
func managerSocket(t *testing.T, path string) *os.File {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close(); listener.Close() })
	return file
}

// TestServiceManagerActivates: a TaskManager that connects before the daemon runs is served by it; the daemon reports READY=1 and
// gives signs of life; and after its end the sockets are there for the next one, who serves who connected in between.
func TestServiceManagerActivates(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "session.sock")
	files := []*os.File{managerSocket(t, filepath.Join(folder, "api.sock")), managerSocket(t, path)}
	notify := filepath.Join(folder, "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	config := writeConfig(t, fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n"+
		"[metrics]\nlisten = \"\"\n[process]\nshutdown_grace = \"50ms\"\n", folder))
	for life := range 2 {
		early := daemontest.Dial(t, path)
		var log log
		cmd, ended := startActivated(t, &log, files, []string{"NOTIFY_SOCKET=" + notify, "WATCHDOG_USEC=200000"}, "run", "--config", config)
		if refused := early.Greet(daemontest.Hello(fmt.Sprintf("p%d", life))); refused != nil {
			t.Fatalf("refused: %v", refused)
		}
		early.MustLease()
		requireMessages(t, manager, "READY=1", "WATCHDOG=1", "WATCHDOG=1")
		if code, text, _ := invoke("status", "--config", config); code != exitOK || !strings.Contains(text, fmt.Sprintf("tm-p%d", life)) {
			t.Errorf("status: %d, %s\n%s", code, text, log.String())
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		requireMessages(t, manager, "STOPPING=1")
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("life %d ended with %v\n%s", life, err, log.String())
			}
		case <-time.After(daemontest.Deadline):
			t.Fatalf("life %d does not end\n%s", life, log.String())
		}
	}
}

// requireMessages reads until each of the messages has come as often as it is listed.
func requireMessages(t *testing.T, manager *net.UnixConn, wants ...string) {
	t.Helper()
	missing := map[string]int{}
	for _, want := range wants {
		missing[want]++
	}
	manager.SetReadDeadline(time.Now().Add(daemontest.Deadline))
	buffer := make([]byte, 200)
	for len(missing) > 0 {
		n, err := manager.Read(buffer)
		if err != nil {
			t.Fatalf("the service manager still misses %v: %v", missing, err)
		}
		message := string(buffer[:n])
		if missing[message]--; missing[message] <= 0 {
			delete(missing, message)
		}
	}
}

// TestActivationOfAnotherPath: the daemon does not serve one path while clients wait on another.
func TestActivationOfAnotherPath(t *testing.T) {
	folder := t.TempDir()
	files := []*os.File{managerSocket(t, filepath.Join(folder, "old.sock"))}
	var log log
	_, ended := startActivated(t, &log, files, nil, "run", "--listen-dir", filepath.Join(folder, "run"))
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(log.String(), "old.sock") || !strings.Contains(log.String(), "ListenStream=") {
			t.Errorf("it ended with %v\n%s", err, log.String())
		}
	case <-time.After(daemontest.Deadline):
		t.Fatal("it serves")
	}
}

// TestDrainRefusesOnTheManagersSocket: whoever connects while the last session is served on is told so at once.
func TestDrainRefusesOnTheManagersSocket(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "session.sock")
	files := []*os.File{managerSocket(t, path), managerSocket(t, filepath.Join(folder, "api.sock"))}
	config := writeConfig(t, fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n"+
		"[metrics]\nlisten = \"\"\n[process]\nshutdown_grace = \"1m\"\n", folder))
	var log log
	cmd, ended := startActivated(t, &log, files, nil, "run", "--config", config)
	last := daemontest.Open(t, path, "last")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	daemontest.Eventually(t, "draining", func() bool { return strings.Contains(log.String(), "msg=draining") })
	if refused := daemontest.Dial(t, path).Greet(daemontest.Hello("late")); !strings.Contains(refused.GetMessage(), "shutting down") {
		t.Errorf("a late session got %v", refused)
	}
	last.Kill()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, log.String())
		}
	case <-time.After(daemontest.Deadline):
		t.Fatal("it does not end")
	}
}

// TestSystemdActivates has systemd's own tool listen and start the daemon at the first connection.
func TestSystemdActivates(t *testing.T) {
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("needs systemd-socket-activate of Debian's package systemd")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "session.sock")
	config := writeConfig(t, fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n"+
		"[metrics]\nlisten = \"\"\n[process]\nshutdown_grace = \"50ms\"\n", folder))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log log
	cmd := exec.Command(tool, "-E", asDaemon+"=1", "-l", filepath.Join(folder, "api.sock"), "-l", path, self, "run", "--config", config)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	daemontest.Eventually(t, "systemd listens", func() bool { return strings.Contains(log.String(), "Listening on "+path) })
	if strings.Contains(log.String(), "msg=ready") {
		t.Error("the daemon runs before anybody connects")
	}
	c := daemontest.Open(t, path, "first")
	c.MustLease()
	c.Kill()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := endOf(t, cmd); err != nil {
		t.Errorf("it ended with %v\n%s", err, log.String())
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("systemd's socket is gone: %v", err)
	}
}
