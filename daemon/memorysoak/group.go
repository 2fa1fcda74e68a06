package memorysoak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// group is a memory cgroup of its own, of version 1 or 2.
type group struct {
	folder           string
	usage, kills     string
	killsLine, limit string
}

// newGroup makes a memory cgroup with a limit in bytes. A machine on which that is not possible skips the test, with what was tried and
// what the kernel said; DESIGN.md says so, too.
func newGroup(t *testing.T, name string, limit int64) *group {
	t.Helper()
	var faults []string
	for _, g := range []group{
		{folder: "/sys/fs/cgroup", usage: "memory.current", kills: "memory.events", killsLine: "oom_kill", limit: "memory.max"},
		{folder: "/sys/fs/cgroup/memory", usage: "memory.usage_in_bytes", kills: "memory.oom_control", killsLine: "oom_kill",
			limit: "memory.limit_in_bytes"},
	} {
		// Beside a group's folder any other is a folder like any other.
		if _, err := os.Stat(filepath.Join(g.folder, "cgroup.procs")); err != nil {
			faults = append(faults, err.Error())
			continue
		}
		g.folder = filepath.Join(g.folder, fmt.Sprintf("penstock-test-%s-%d", name, os.Getpid()))
		err := os.Mkdir(g.folder, 0o755)
		if err == nil {
			t.Cleanup(func() { g.remove(t) })
			err = os.WriteFile(filepath.Join(g.folder, g.limit), []byte(strconv.FormatInt(limit, 10)), 0o644)
		}
		if err == nil {
			_, err = os.Stat(filepath.Join(g.folder, g.kills))
		}
		if err == nil {
			return &g
		}
		faults = append(faults, err.Error())
	}
	t.Skipf("no memory cgroup can be made on this machine: %s", strings.Join(faults, "; "))
	return nil
}

// remove waits for the last process to be gone.
func (g *group) remove(t *testing.T) {
	for end := time.Now().Add(startLimit); ; time.Sleep(5 * time.Millisecond) {
		err := os.Remove(g.folder)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}

// command is a command whose process is in the group from its first page on.
func (g *group) command(name string, args ...string) *exec.Cmd {
	if g == nil {
		return exec.Command(name, args...)
	}
	return exec.Command("/bin/sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.folder, "cgroup.procs"), name},
		args...)...)
}

// used is how many bytes the group is charged.
func (g *group) used(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.folder, g.usage))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// killed is how many processes of the group the kernel killed for want of memory.
func (g *group) killed(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.folder, g.kills))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, _ := strings.Cut(line, " "); name == g.killsLine {
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("%s of %s does not count kills: %s", g.kills, g.folder, text)
	return 0
}
