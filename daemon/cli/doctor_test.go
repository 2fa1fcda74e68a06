package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/daemon/doctor"
)

// as runs this test binary as penstockd in a process of its own: as a user, below a shell script that may set limits.
func as(t *testing.T, uid uint32, script string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may become another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The folder of the test binary is the builder's alone.
	reachable := filepath.Join(open(t), "penstockd")
	if err := os.Link(self, reachable); err != nil {
		if out, err := exec.Command("cp", self, reachable).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	cmd := exec.Command("sh", append([]string{"-c", script + ` exec "$0" "$@"`, reachable}, args...)...)
	cmd.Env = append(os.Environ(), asDaemon+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return cmd
}

// open is a folder that every user may enter and write into.
func open(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for path, mode := range map[string]os.FileMode{folder: 0o777, filepath.Dir(folder): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// diagnosed runs `doctor --json` and gives exit code and findings by check.
func diagnosed(t *testing.T, cmd *exec.Cmd) (int, map[string]doctor.Finding) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = endOf(t, cmd) // the exit code says it
	var list []doctor.Finding
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("%v: %s %s", err, out.String(), errOut.String())
	}
	found := map[string]doctor.Finding{}
	for _, f := range list {
		found[f.Check] = f
	}
	return cmd.ProcessState.ExitCode(), found
}

func requireFinding(t *testing.T, found map[string]doctor.Finding, check string, state doctor.State, words string) {
	t.Helper()
	if f := found[check]; f.State != state || !strings.Contains(f.Found+f.Fix, words) {
		t.Errorf("%s: %+v, want %s with %q", check, f, state, words)
	}
}

// TestDoctorAsAnotherUser: what the owner of the daemon may, another user may not, and doctor says which door is shut.
func TestDoctorAsAnotherUser(t *testing.T) {
	const owner, stranger = 23456, 12345
	folder := filepath.Join(open(t), "run")
	args := func(mode, folderMode string) []string {
		config := writeConfig(t, fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\nsocket_mode = %q\ndirectory_mode = %q\n"+
			"allow_uids = [0, %d, %d]\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n[metrics]\nlisten = \"\"\n", folder, mode, folderMode,
			owner, stranger))
		for path, mode := range map[string]os.FileMode{config: 0o644, filepath.Dir(config): 0o755, filepath.Dir(filepath.Dir(config)): 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		return []string{"--config", config}
	}
	for _, test := range []struct{ socketMode, folderMode, check, words string }{
		{"0660", "0700", "sockets.folder", "may not enter"},
		{"0660", "0755", "sockets.session", "may not connect"},
		{"0666", "0755", "sockets.session", "a segment can be opened by its owner only"},
	} {
		flags := args(test.socketMode, test.folderMode)
		daemon := as(t, owner, "", append([]string{"run"}, flags...)...)
		daemon.Stdout, daemon.Stderr = io.Discard, io.Discard
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { daemon.Process.Kill() })
		daemontest.Eventually(t, "the daemon serves", func() bool { code, _, _ := invoke(append([]string{"healthcheck"}, flags...)...); return code == exitOK })

		code, found := diagnosed(t, as(t, owner, "", append([]string{"doctor", "--json"}, flags...)...))
		requireFinding(t, found, "sockets.session", doctor.OK, "somebody listens")
		requireFinding(t, found, "sockets.peers", doctor.OK, "23456")
		if code != exitOK {
			t.Errorf("the owner: exit code %d", code)
		}
		code, found = diagnosed(t, as(t, stranger, "", append([]string{"doctor", "--json"}, flags...)...))
		requireFinding(t, found, test.check, doctor.Fail, test.words)
		if code != exitFailed {
			t.Errorf("the stranger: exit code %d", code)
		}
		daemon.Process.Signal(syscall.SIGTERM)
		if err := endOf(t, daemon); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(folder)
	}
}

func TestDoctorSeesTheLimitOfDescriptors(t *testing.T) {
	_, found := diagnosed(t, as(t, 12345, "ulimit -n 512;", "doctor", "--json", "--listen-dir", filepath.Join(open(t), "run")))
	requireFinding(t, found, "limits.nofile", doctor.Warn, "512 descriptors")
}

// TestDoctorSeesTheMemoryLimit puts the process into a control group of its own.
func TestDoctorSeesTheMemoryLimit(t *testing.T) {
	group, file := "/sys/fs/cgroup/memory/penstock-test-"+strconv.Itoa(os.Getpid()), "memory.limit_in_bytes"
	if err := os.Mkdir(group, 0o755); err != nil {
		group, file = "/sys/fs/cgroup/penstock-test-"+strconv.Itoa(os.Getpid()), "memory.max"
		if err := os.Mkdir(group, 0o755); err != nil {
			t.Skip("no control group may be made here: ", err)
		}
	}
	t.Cleanup(func() { os.Remove(group) })
	if err := os.WriteFile(filepath.Join(group, file), []byte("536870912"), 0o644); err != nil {
		t.Skip("the control group has no memory limit: ", err)
	}
	cmd := as(t, 0, "echo $$ > "+group+"/cgroup.procs;", "doctor", "--json", "--listen-dir", filepath.Join(open(t), "run"))
	code, found := diagnosed(t, cmd)
	requireFinding(t, found, "limits.memory", doctor.Fail, group)
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

func TestDoctorInWords(t *testing.T) {
	code, out, errOut := invoke("doctor", "--config", writeConfig(t, "version = 1\n[arena]\nsegment = \"3GiB\"\n"))
	if code != exitFailed || !strings.Contains(out, "fail") || !strings.Contains(out, "arena.segment") || !strings.Contains(out, "fix: ") ||
		!strings.Contains(errOut, "checks fail") {
		t.Errorf("%d\n%s%s", code, out, errOut)
	}
}
