package session_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/daemontest"
)

// heirEnv has the socket of the process that plays a client with a child.
const heirEnv = "PENSTOCK_TEST_HEIR"

// TestMain lets this binary play that process.
func TestMain(m *testing.M) {
	if path := os.Getenv(heirEnv); path != "" {
		playParent(path)
	}
	os.Exit(m.Run())
}

// playParent opens a session, lets a child inherit its socket, and waits to be killed.
func playParent(path string) {
	t := daemontest.Program()
	c := daemontest.Open(t, path, "parent")
	c.MustLease()
	socket, err := c.Conn.File()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "60")
	child.ExtraFiles = []*os.File{socket}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Println(child.Process.Pid)
	time.Sleep(time.Minute)
	os.Exit(1)
}

// TestAProcessIsDeadThoughAChildHasItsSocket: the end of the stream would come with the child, in a minute.
func TestAProcessIsDeadThoughAChildHasItsSocket(t *testing.T) {
	f := start(t, nil)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), heirEnv+"="+f.path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	if f.server.Count() != 1 {
		t.Fatal("no session")
	}
	start := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	f.requireNothingHeld()
	t.Logf("given back after %v", time.Since(start))
	if n := f.counters.ProcessesEnded.Load(); n != 1 {
		t.Errorf("%d ends of processes were seen, want 1", n)
	}
	if err := unix.Kill(child, 0); err != nil {
		t.Errorf("the child that holds the socket did not live to the end: %v", err)
	}
}

// TestRevokeFromEverySideAtOnce: the end of the stream, of the process, of a writer's patience and of the daemon meet; what was held
// comes back once.
func TestRevokeFromEverySideAtOnce(t *testing.T) {
	f := start(t, nil)
	for range 20 {
		c := daemontest.Open(t, f.path, "p1")
		c.MustLease()
		found, err := f.server.Authenticate(c.Welcome.GetSessionId(), c.Welcome.GetToken())
		if err != nil {
			t.Fatal(err)
		}
		var ended atomic.Int64
		if _, err := found.Join(func() { ended.Add(1) }); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		for range 4 {
			go func() {
				found.Revoke()
				done <- struct{}{}
			}()
		}
		c.Kill()
		for range 4 {
			<-done
		}
		f.requireNothingHeld()
		if n := ended.Load(); n != 1 {
			t.Fatalf("a writer was ended %d times", n)
		}
	}
}
