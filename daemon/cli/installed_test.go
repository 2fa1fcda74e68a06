package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"penstock.dev/penstock/daemon/daemontest"
)

// account is the user that runs the TaskManagers of the guide's site: not the one of the units, and of no other program.
const account = "taskmanager"

const accountID = 47110

// install makes of the namespaces a machine where `make install PREFIX=/usr/local` has run, with targets that nothing hangs on but
// Penstock, and an account. What it writes is in memory that nobody else sees.
const install = `
mount -t tmpfs -o mode=755 etc /mnt
cp -a /etc/. /mnt
rm -rf /mnt/systemd/system /mnt/penstock
mkdir -p /mnt/systemd/system /mnt/penstock
echo "$ACCOUNT:x:$ACCOUNT_ID:" >> /mnt/group
echo "$ACCOUNT:x:$ACCOUNT_ID:$ACCOUNT_ID::/:/bin/false" >> /mnt/passwd
install -m 644 "$CONFIG" /mnt/penstock/penstockd.toml
mount --bind /mnt /etc
umount /mnt
mount -t tmpfs -o mode=755 bin /usr/local/bin
install -m 755 "$PROGRAMS"/* /usr/local/bin
mount --bind "$INSTALLED" /usr/lib/systemd/system
`

// programs are what a user of the guide has: penstockd, which the test binary plays, sudo, where root needs none, and an editor that
// types where systemd says.
var programs = map[string]string{
	"penstockd": "#!/bin/sh\n" + asDaemon + "=1 exec /usr/local/bin/penstockd.test \"$@\"\n",
	"sudo":      "#!/bin/sh\nexec \"$@\"\n",
	"type":      "#!/bin/sh\nprintf '%s\\n' \"$TYPED\" > /run/typed && sed -i '/^### Anything between here/r /run/typed' \"$1\"\n",
}

// targets are those that the units name. The real ones would start the machine's services.
var targets = map[string]string{
	"sysinit.target":    "[Unit]\nDefaultDependencies=no\n",
	"shutdown.target":   "[Unit]\nDefaultDependencies=no\n",
	"sockets.target":    "[Unit]\n",
	"basic.target":      "[Unit]\nRequires=sysinit.target\nWants=sockets.target\nAfter=sysinit.target sockets.target\n",
	"multi-user.target": "[Unit]\nRequires=basic.target\nAfter=basic.target\n",
	"guide.target":      "[Unit]\nRequires=multi-user.target\nAfter=multi-user.target\n",
}

// bootInstalled has the units as they are installed, with everything that they may and may not touch. systemd has no controllers in
// these namespaces: it takes MemoryMax, TasksMax and DevicePolicy, says so, and the kernel enforces none of them.
func bootInstalled(t *testing.T) *systemd {
	t.Helper()
	s := newSystemd(t)
	s.config = writeConfig(t, daemonConfig("/run/penstock", "capacity = \"8MiB\"\nsegment = \"1MiB\"\nwarm_segments = 2"))
	installed, bin := t.TempDir(), t.TempDir()
	write := func(folder, name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range targets {
		write(installed, name, text)
	}
	for name, text := range programs {
		write(bin, name, text)
	}
	for _, name := range []string{"penstockd.service", "penstockd.socket"} {
		text, err := os.ReadFile(filepath.Join("../systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		write(installed, name, strings.ReplaceAll(string(text), "ExecStart=/usr/bin/", "ExecStart=/usr/local/bin/"))
		if name == "penstockd.service" {
			write(installed, "probe.service", probe(string(text)))
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "penstockd.test")); err != nil {
		t.Fatal(err)
	}
	s.boot([]string{"PREPARE=" + install, "INSTALLED=" + installed, "PROGRAMS=" + bin, "CONFIG=" + s.config, "ACCOUNT=" + account,
		fmt.Sprintf("ACCOUNT_ID=%d", accountID), "UNITS=/etc/systemd/system:/run/systemd/system:/usr/lib/systemd/system",
		"TARGET=guide.target"}, "is-active", "guide.target")
	if out, err := s.try("start", "probe.service"); err != nil {
		status, _ := s.try("status", "--no-pager", "probe.service")
		t.Skipf("systemd cannot confine a service here as the unit wants it, in a container for example: %v, %s\n%s", err, out, status)
	}
	return s
}

// probe is a service that does nothing, confined as the daemon is: where it does not start, nothing of Penstock is to blame.
func probe(unit string) string {
	text := "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/bin/true\nUser=" + account + "\n"
	_, service, _ := strings.Cut(unit, "[Service]\n")
	service, _, _ = strings.Cut(service, "[Install]")
	for line := range strings.Lines(service) {
		if !ownLine.MatchString(line) {
			text += line
		}
	}
	return text
}

// ownLine is what a unit says about its own program and folders, not about what that may do.
var ownLine = regexp.MustCompile(`^(Type|NotifyAccess|ExecStart|User|Group|Restart|RestartSec|WatchdogSec|FileDescriptorStoreMax|` +
	`RuntimeDirectory\w*|ConfigurationDirectory)=`)

// file is the path of a file of the namespaces, seen from outside.
func (s *systemd) file(path string) string { return filepath.Join("/proc", s.first, "root", path) }

// terminal is a new pseudo terminal: systemctl edits on nothing else.
func terminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

// sh runs a command of the guide on a terminal, with an editor that types; as the account, where it is none for root.
func (s *systemd) sh(command, typed string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*daemontest.Deadline)
	defer cancel()
	args := []string{"sh", "-e", "-c", command}
	if !strings.HasPrefix(command, "sudo ") {
		args = append([]string{"-S", fmt.Sprint(accountID), "-G", fmt.Sprint(accountID)}, args...)
	}
	near, far := terminal(s.t)
	defer near.Close()
	cmd := s.inside(ctx, args...)
	cmd.Env = append(os.Environ(), "PATH=/usr/local/bin:"+os.Getenv("PATH"), "SYSTEMD_EDITOR=/usr/local/bin/type", "TYPED="+typed, "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
	said := &log{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		text := make([]byte, 4096)
		for {
			// When the last one at the far end is gone, this is an error.
			n, err := near.Read(text)
			said.Write(text[:n])
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Run()
	far.Close()
	select {
	case <-read:
	case <-time.After(daemontest.Deadline):
		s.t.Fatalf("%s: somebody keeps the terminal\n%s", command, said)
	}
	if err != nil {
		status, _ := s.try("status", "--no-pager", "penstockd.service", "penstockd.socket")
		s.t.Fatalf("%s: %v\n%s\n%s", command, err, said, status)
	}
}

// property is what systemd has for a unit.
func (s *systemd) property(unit, name string) string {
	s.t.Helper()
	_, value, _ := strings.Cut(strings.TrimSpace(s.control("show", unit, "-p", name)), "=")
	return value
}

var (
	editCommand = regexp.MustCompile(`^sudo systemctl edit (\S+) +# (\[\w+\]) (.*)$`)
	stopCommand = regexp.MustCompile("`(sudo systemctl stop [^`]*)`")
)

// edit runs a command that lets an editor write a drop-in: what the comment beside it names, with the account for the guide's dots.
func (s *systemd) edit(command string) {
	s.t.Helper()
	parts := editCommand.FindStringSubmatch(command)
	if parts == nil {
		s.t.Fatalf("%q does not say what to write", command)
	}
	settings := strings.Fields(strings.ReplaceAll(parts[3], "...", account))
	s.sh(command, parts[2]+"\n"+strings.Join(settings, "\n"))
	for _, setting := range settings {
		key, want, _ := strings.Cut(setting, "=")
		if want == "8G" {
			want = fmt.Sprint(8 << 30)
		}
		if got := s.property(parts[1], key); got != want {
			s.t.Errorf("after %q the unit has %s=%s, want %s", command, key, got, want)
		}
	}
}

// requireServing sees that both units are enabled and active, and the daemon is the account's; it returns the daemon's process.
func (s *systemd) requireServing(when string) string {
	s.t.Helper()
	for unit, target := range map[string]string{"penstockd.socket": "sockets.target", "penstockd.service": "multi-user.target"} {
		if enabled, active := s.property(unit, "UnitFileState"), s.property(unit, "ActiveState"); enabled != "enabled" || active != "active" {
			s.t.Errorf("%s: %s is %s and %s", when, unit, enabled, active)
		}
		if wants := s.property(target, "Wants"); !slices.Contains(strings.Fields(wants), unit) {
			s.t.Errorf("%s: the next boot starts no %s: %s wants %q", when, unit, target, wants)
		}
	}
	process := s.property("penstockd.service", "MainPID")
	for _, path := range []string{"/proc/" + process, "/run/penstock/session.sock", "/run/penstock/api.sock"} {
		var st unix.Stat_t
		if err := unix.Stat(s.file(path), &st); err != nil || st.Uid != accountID || st.Gid != accountID {
			s.t.Errorf("%s: %s is of %d:%d (%v), want the account", when, path, st.Uid, st.Gid, err)
		}
	}
	return process
}

// requireGone sees that nothing runs and nobody listens.
func (s *systemd) requireGone() {
	s.t.Helper()
	for _, unit := range []string{"penstockd.socket", "penstockd.service"} {
		if active := s.property(unit, "ActiveState"); active != "inactive" {
			s.t.Errorf("stopped for good: %s is %s", unit, active)
		}
	}
	for _, name := range []string{"session.sock", "api.sock"} {
		path := s.file("/run/penstock/" + name)
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			s.t.Errorf("stopped for good: somebody listens at %s", name)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			s.t.Errorf("stopped for good: %s is left (%v)", name, err)
		}
	}
	programs, err := filepath.Glob(s.file("/proc/[0-9]*/exe"))
	if err != nil || len(programs) == 0 {
		s.t.Errorf("no process is seen: %v", err)
	}
	for _, program := range programs {
		if path, _ := os.Readlink(program); strings.HasSuffix(path, "penstockd.test") {
			s.t.Errorf("stopped for good: %s runs", program)
		}
	}
}

// TestGuidesServiceRuns runs the commands of systemctl in docs/bare-metal.md in their order, in a systemd that has the units as they are
// installed, and those of penstockd beside them that need no cluster.
func TestGuidesServiceRuns(t *testing.T) {
	text, err := os.ReadFile("../../docs/bare-metal.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := guideCommands(t)
	s := bootInstalled(t)
	ran, process := 0, ""
	for _, command := range commands {
		switch {
		case strings.Contains(command, "make ") || strings.Contains(command, "--properties"):
			continue
		case strings.HasPrefix(command, "sudo systemctl edit "):
			s.edit(command)
		case strings.HasPrefix(command, "sudo systemctl "):
			s.sh(command, "")
			next := s.requireServing(command)
			if next == process {
				t.Errorf("%s: the daemon is still process %s", command, process)
			}
			process = next
		default:
			s.sh(command, "")
		}
		ran++
	}
	if ran != 9 {
		t.Errorf("%d commands ran, want 9 of %q", ran, commands)
	}
	s.sh("penstockd healthcheck --config /etc/penstock/penstockd.toml", "")
	stop := stopCommand.FindStringSubmatch(string(text))
	if stop == nil {
		t.Fatal("docs/bare-metal.md does not say how to stop")
	}
	s.sh(stop[1], "")
	s.requireGone()
}
