package systemd

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/config"
)

// unit is the settings of a unit file; a key that stands there more than once has several values.
type unit map[string][]string

func read(t *testing.T, name string) unit {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	u := unit{}
	for _, line := range strings.Split(string(text), "\n") {
		if key, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			u[key] = append(u[key], value)
		}
	}
	return u
}

// one is the value of a key that stands there once.
func (u unit) one(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) != 1 {
		t.Fatalf("%s stands there %d times, want once", key, len(u[key]))
	}
	return u[key][0]
}

func (u unit) duration(t *testing.T, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(u.one(t, key))
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return d
}

func TestSocketUnitListensWhereTheDaemonServes(t *testing.T) {
	socket, listen := read(t, "penstockd.socket"), config.Default().Listen
	if got, want := socket["ListenStream"], []string{listen.SessionPath(), listen.APIPath()}; !slices.Equal(got, want) {
		t.Errorf("ListenStream = %v, want %v", got, want)
	}
	if got, want := socket.one(t, "SocketMode"), listen.SocketMode.String(); got != want {
		t.Errorf("SocketMode = %s, the daemon's own sockets have %s", got, want)
	}
	service := read(t, "penstockd.service")
	if user := service.one(t, "User"); user != socket.one(t, "SocketUser") || service.one(t, "Group") != socket.one(t, "SocketGroup") {
		t.Errorf("the service runs as %s, its sockets are another's", user)
	}
}

func TestServiceUnitLeavesTheDaemonItsTimes(t *testing.T) {
	service, process := read(t, "penstockd.service"), config.Default().Process
	if stop, need := service.duration(t, "TimeoutStopSec"), process.ShutdownGrace.Std()+process.StopTimeout.Std(); stop <= need {
		t.Errorf("TimeoutStopSec = %v kills the daemon before it has ended: draining and stopping take up to %v", stop, need)
	}
	if watchdog := service.duration(t, "WatchdogSec"); watchdog <= process.StopTimeout.Std() {
		t.Errorf("WatchdogSec = %v kills a daemon that stops, which takes up to %v", watchdog, process.StopTimeout)
	}
	if kind := service.one(t, "Type"); kind != "notify" {
		t.Errorf("Type = %s", kind)
	}
}

func TestServiceUnitHoldsTheDefaultMemory(t *testing.T) {
	service, c := read(t, "penstockd.service"), config.Default()
	text, found := strings.CutSuffix(service.one(t, "MemoryMax"), "M")
	limit, err := strconv.ParseInt(text, 10, 64)
	if !found || err != nil {
		t.Fatalf("MemoryMax = %s is not written in M", service.one(t, "MemoryMax"))
	}
	if need := c.MemoryNeed(); config.ByteSize(limit)*config.MiB < need {
		t.Errorf("MemoryMax = %dM, the default configuration needs %v", limit, need)
	}
}

func TestServiceUnitKeepsTheWholeArena(t *testing.T) {
	arena := config.Default().Arena
	room, err := strconv.ParseInt(read(t, "penstockd.service").one(t, "FileDescriptorStoreMax"), 10, 64)
	if need := int64(arena.Capacity / arena.Segment); err != nil || room < need {
		t.Errorf("FileDescriptorStoreMax = %d (%v), the default arena has %d segments", room, err, need)
	}
}

// TestEachOpenDoorHasItsReason: a setting that systemd-analyze security counts against the unit stands there with a comment.
func TestEachOpenDoorHasItsReason(t *testing.T) {
	text, err := os.ReadFile("penstockd.service")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, door := range []string{"RestrictAddressFamilies", "PrivateNetwork", "PrivateUsers", "ProcSubset"} {
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, door+"=") })
		if at < 1 || !strings.HasPrefix(lines[at-1], "# ") {
			t.Errorf("%s has no reason above it", door)
		}
	}
}
