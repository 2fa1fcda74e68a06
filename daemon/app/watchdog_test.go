package app

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/config"
	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/kafka/kafkatest"
)

// serviceManager is the other end of NOTIFY_SOCKET.
func serviceManager(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { manager.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return manager
}

// heard is the next message about the daemon's life within the time, "" when there is none. What it has kept is not heard.
func heard(t *testing.T, manager *net.UnixConn, within time.Duration) string {
	t.Helper()
	buffer := make([]byte, 200)
	manager.SetReadDeadline(time.Now().Add(within))
	for {
		n, err := manager.Read(buffer)
		if err != nil && !os.IsTimeout(err) {
			t.Fatal(err)
		}
		if message := string(buffer[:n]); !strings.HasPrefix(message, "FDSTORE=1\n") {
			return message
		}
	}
}

// stuckEngine stands still in what Status asks it, once told to: no real engine can be made to.
type stuckEngine struct {
	fakeEngine
	mu sync.Mutex
}

func (e *stuckEngine) Producers() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return 0
}

func TestWatchdogIsFedWhileTheStateCanBeRead(t *testing.T) {
	manager := serviceManager(t)
	t.Setenv("WATCHDOG_USEC", "100000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	r := prepare(t, kafkatest.Faults{}, nil)
	engine := &stuckEngine{fakeEngine: fakeEngine{r.engine}}
	r.launch(engine)
	for signs := 0; signs < 3; {
		switch message := heard(t, manager, daemontest.Deadline); message {
		case notifyWatchdog:
			signs++
		case "":
			t.Fatal("no sign of life")
		}
	}
	engine.mu.Lock()
	silent := false
	for deadline := time.Now().Add(daemontest.Deadline); !silent && time.Now().Before(deadline); {
		silent = heard(t, manager, time.Second) == ""
	}
	engine.mu.Unlock()
	if !silent {
		t.Error("a daemon that stands still gives signs of life")
	}
	if message := heard(t, manager, daemontest.Deadline); message != notifyWatchdog {
		t.Errorf("after it goes on: %q, want %q", message, notifyWatchdog)
	}
}

func TestWatchdogOfAnotherProcess(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "1000000")
	for pid, want := range map[string]time.Duration{"": 500 * time.Millisecond, "1": 0, strconv.Itoa(os.Getpid()): 500 * time.Millisecond} {
		t.Setenv("WATCHDOG_PID", pid)
		if got, err := watchdogInterval(); err != nil || got != want {
			t.Errorf("WATCHDOG_PID = %q: %v, %v; want %v", pid, got, err, want)
		}
	}
	t.Setenv("WATCHDOG_PID", "")
	for _, text := range []string{"soon", "0", "-1", "99999999999999999"} {
		t.Setenv("WATCHDOG_USEC", text)
		if got, err := watchdogInterval(); err == nil || !strings.Contains(err.Error(), "WatchdogSec=") {
			t.Errorf("WATCHDOG_USEC = %q: %v, %v; want an error that names WatchdogSec=", text, got, err)
		}
	}
	t.Setenv("WATCHDOG_USEC", "")
	if got, err := watchdogInterval(); got != 0 || err != nil {
		t.Errorf("without a watchdog: %v, %v", got, err)
	}
}

// TestWarmingUpFeedsTheWatchdog: the first sign of life does not wait for READY=1.
func TestWarmingUpFeedsTheWatchdog(t *testing.T) {
	manager := serviceManager(t)
	t.Setenv("WATCHDOG_USEC", "60000000")
	start(t, kafkatest.Faults{}, func(c *config.Config) { c.Arena.WarmSegments = 4 })
	seen := map[string]bool{}
	for range 2 {
		seen[heard(t, manager, daemontest.Deadline)] = true
	}
	if !seen[notifyWatchdog] || !seen[notifyReady] {
		t.Errorf("heard %v, want a sign of life at once and READY=1", seen)
	}
}
