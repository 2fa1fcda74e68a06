package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"penstock.dev/penstock/daemon/daemontest"
)

// systemdProgram is where Debian, Fedora and others put it.
const systemdProgram = "/lib/systemd/systemd"

// boot is the first process of namespaces of its own, where nothing but its own processes can be reached and nothing of the machine is
// mounted that systemd would change: of the control groups it sees its own alone, without controllers. PREPARE mounts what a test wants.
const boot = `set -e
eval "$PREPARE"
mount -t tmpfs cg /sys/fs/cgroup
if [ "$CGROUP" = cgroup2 ]; then mount -t cgroup2 cgroup /sys/fs/cgroup
else mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd; fi
mount -t tmpfs run /run
exec env -i PATH="$PATH" container=unshare SYSTEMD_UNIT_PATH="$UNITS" SYSTEMD_GENERATOR_PATH=/nonexistent \
  SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/nonexistent ` + systemdProgram + ` --system --unit="$TARGET" --log-target=null`

// systemd is a running one that has the daemon as its service.
type systemd struct {
	manager
	group string
	first string // its process
}

// bootSystemd starts one in a control group that is removed at the end, or skips the test with the reason.
func bootSystemd(t *testing.T, arena string) *systemd {
	t.Helper()
	s := newSystemd(t)
	s.config = writeConfig(t, daemonConfig(s.folder, arena))
	s.boot([]string{"UNITS=" + s.units(), "TARGET=test.target"}, "start", "penstockd.socket")
	return s
}

// newSystemd has a control group, and skips the test where there can be none.
func newSystemd(t *testing.T) *systemd {
	t.Helper()
	if _, err := os.Stat(systemdProgram); err != nil || os.Geteuid() != 0 {
		t.Skipf("needs root and %s: %v", systemdProgram, err)
	}
	root := "/sys/fs/cgroup/systemd"
	if cgroupKind() == "cgroup2" {
		root = "/sys/fs/cgroup"
	}
	s := &systemd{manager: manager{t: t, folder: t.TempDir(), log: &log{}}}
	s.group = filepath.Join(root, fmt.Sprintf("penstock-test-%d", os.Getpid()))
	if err := os.Mkdir(s.group, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	t.Cleanup(s.removeGroup)
	return s
}

// cgroupKind is what systemd has its control groups in: cgroup, or cgroup2.
func cgroupKind() string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return "cgroup2"
	}
	return "cgroup"
}

// boot starts the first process and waits until systemctl with these arguments works. They must be some that the machine's own systemd
// refuses: until the mounts are made it is the one that answers.
func (s *systemd) boot(environment []string, first ...string) {
	s.t.Helper()
	cmd := exec.Command("sh", "-c", `echo $$ > "$GROUP/cgroup.procs" && exec unshare --pid --fork --kill-child --mount-proc --mount --cgroup --ipc --uts sh -c "$BOOT"`)
	cmd.Env = append(append(os.Environ(), "GROUP="+s.group, "BOOT="+boot, "CGROUP="+cgroupKind()), environment...)
	cmd.Stderr, cmd.WaitDelay = s.log, daemontest.Deadline
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Skip(err)
	}
	s.t.Cleanup(func() { kill(cmd) })
	children := fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid)
	for end := time.Now().Add(daemontest.Deadline); ; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(children)
		s.first = strings.TrimSpace(string(text))
		out, err := s.try(first...)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.t.Skipf("systemd does not run in namespaces here: %v, %s%s", err, out, s.log)
		}
	}
}

// removeGroup waits until the kernel has taken the last process out.
func (s *systemd) removeGroup() {
	for end := time.Now().Add(daemontest.Deadline); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		// Deepest first; the files in a group cannot be removed and need not be.
		_ = exec.Command("find", s.group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";").Run()
		if _, err := os.Stat(s.group); os.IsNotExist(err) {
			return
		}
	}
	s.t.Errorf("the control group %s is left over", s.group)
}

// units writes the units: of the service that is installed, what has to do with its life, and none of what it may touch.
func (s *systemd) units() string {
	s.t.Helper()
	text, err := os.ReadFile("../systemd/penstockd.service")
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	service := fmt.Sprintf("[Unit]\nDefaultDependencies=no\nRequires=penstockd.socket\nAfter=penstockd.socket\n[Service]\nEnvironment=%s=1\n"+
		"ExecStart=%s run --config %s\n", asDaemon, self, s.config)
	for _, line := range strings.Split(string(text), "\n") {
		for _, key := range []string{"Type=", "NotifyAccess=", "Restart=", "RestartSec=", "WatchdogSec=", "FileDescriptorStoreMax="} {
			if strings.HasPrefix(line, key) {
				service += line + "\n"
			}
		}
	}
	folder := s.t.TempDir()
	for name, text := range map[string]string{
		"test.target":       "[Unit]\nDefaultDependencies=no\n",
		"penstockd.service": service,
		"penstockd.socket": fmt.Sprintf("[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream=%s\nListenStream=%s\n", s.session(),
			filepath.Join(s.folder, "api.sock")),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	return folder
}

// inside is a command in the namespaces.
func (s *systemd) inside(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "nsenter", append([]string{"-t", s.first, "-p", "-m", "-C", "-i", "-u"}, args...)...)
}

func (s *systemd) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), daemontest.Deadline)
	defer cancel()
	out, err := s.inside(ctx, append([]string{"systemctl"}, args...)...).CombinedOutput()
	return string(out), err
}

func (s *systemd) control(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("systemctl %v: %v, %s", args, err, out)
	}
	return out
}

// requireKept says how many descriptors systemd must have.
func (s *systemd) requireKept(when string, want int) {
	s.t.Helper()
	if got := s.control("show", "penstockd.service", "-p", "NFileDescriptorStore"); strings.TrimSpace(got) != fmt.Sprintf("NFileDescriptorStore=%d", want) {
		s.t.Errorf("%s: %s, want %d", when, got, want)
	}
}

// TestSystemdKeepsTheMemory is TestMemoryOfAKilledDaemonStaysInTheBooks under systemd itself: a killed daemon, a restart, a stop.
func TestSystemdKeepsTheMemory(t *testing.T) {
	s := bootSystemd(t, "capacity = \"8MiB\"\nsegment = \"1MiB\"\nwarm_segments = 2")
	s.control("start", "penstockd.service")
	victim := client(t, s.session())
	s.until("three leased, two warm", func(b books) bool { return b.Memory.Leased == 3*mib && b.Memory.Warm == 2*mib })
	s.requireKept("running", 5)
	s.control("kill", "-s", "KILL", "penstockd.service")
	// The socket is systemd's: who asks waits for the next daemon.
	s.until("the next daemon has all of it", func(b books) bool {
		return b.Memory.Adopted == 5 && b.Memory.Orphans == 3 && b.Memory.Warm == 2*mib && b.Memory.Kernel == 5*mib
	})
	s.requireKept("killed", 5)
	kill(victim)
	s.until("the orphans are gone", func(b books) bool { return b.Memory.Orphans == 0 && b.Memory.Kernel == 2*mib })
	s.requireKept("the client let go", 2)
	s.control("restart", "penstockd.service")
	s.until("a restart has the warm ones", func(b books) bool { return b.Memory.Adopted == 2 && b.Memory.Kernel == 2*mib })
	s.control("stop", "penstockd.service", "penstockd.socket")
	s.requireKept("stopped for good", 0)
}
