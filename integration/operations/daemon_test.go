package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// root is the top of the repository, seen from this package's folder.
const root = "../.."

// limit bounds every wait for a process; on a loaded machine a start takes seconds.
const limit = 60 * time.Second

// binary returns the absolute path of something that `make build` made.
func binary(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "build", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make build %s` first", err, filepath.Join("build", name))
	}
	return path
}

// penstockd is a running daemon with sockets in a folder of its own.
type penstockd struct {
	bin, config, dir string
	cmd              *exec.Cmd
	done             chan error
	log              bytes.Buffer
}

func startDaemon(t *testing.T) *penstockd {
	t.Helper()
	base := t.TempDir()
	d := &penstockd{bin: binary(t, "penstockd"), dir: filepath.Join(base, "run"), config: filepath.Join(base, "penstockd.toml")}
	text := "version = 1\n[listen]\ndirectory = \"" + d.dir + "\"\n[arena]\ncapacity = \"64MiB\"\nsegment = \"8MiB\"\n[metrics]\nlisten = \"\"\n"
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(d.bin, "run", "--config", d.config)
	d.cmd.Stderr, d.cmd.Stdout = &d.log, &d.log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.done = make(chan error, 1)
	go func() { d.done <- d.cmd.Wait() }()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		<-d.done
		if t.Failed() {
			t.Log(d.log.String())
		}
	})
	d.awaitHealthy(t)
	return d
}

func (d *penstockd) awaitHealthy(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		text, err := d.command("healthcheck")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not healthy in %v: %v\n%s", limit, err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// command runs a subcommand of penstockd against this daemon.
func (d *penstockd) command(args ...string) (string, error) {
	return runBounded(d.bin, append(args, "--config", d.config)...)
}

func runBounded(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	text, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	return string(text), err
}

func TestGrpcurlListsAndCalls(t *testing.T) {
	d := startDaemon(t)
	grpcurl := binary(t, "tools/grpcurl")
	api := filepath.Join(d.dir, "api.sock")
	text, err := runBounded(grpcurl, "-plaintext", "-unix", api, "list")
	if err != nil {
		t.Fatalf("list: %v\n%s", err, text)
	}
	for _, service := range []string{"penstock.v1.SinkService", "penstock.v1.DiagnosticsService", "grpc.health.v1.Health"} {
		if !strings.Contains(text, service) {
			t.Errorf("list does not name %s:\n%s", service, text)
		}
	}
	text, err = runBounded(grpcurl, "-plaintext", "-unix", api, "penstock.v1.DiagnosticsService/GetStatus")
	if err != nil {
		t.Fatalf("GetStatus: %v\n%s", err, text)
	}
	var status struct {
		Serving bool   `json:"serving"`
		ArenaID string `json:"arenaId"`
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !status.Serving || status.ArenaID == "" || status.ArenaID == "0" {
		t.Errorf("status = %+v, want a serving daemon with an arena id", status)
	}
}

func TestStatusForPeopleAndPrograms(t *testing.T) {
	d := startDaemon(t)
	text, err := d.command("status")
	if err != nil || !strings.Contains(strings.ToLower(text), "serving") {
		t.Errorf("status: %v\n%s", err, text)
	}
	text, err = d.command("status", "--json")
	if err != nil || !json.Valid([]byte(text)) {
		t.Errorf("status --json: %v\n%s", err, text)
	}
}

func TestSecondDaemonIsRefused(t *testing.T) {
	d := startDaemon(t)
	text, err := d.command("run")
	// A daemon that serves is killed by the time limit, which is no exit of its own, and its log names the folder too.
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() <= 0 || !strings.Contains(text, "another penstockd serves "+d.dir) {
		t.Errorf("second daemon: error %v, want an exit that says who serves %s:\n%s", err, d.dir, text)
	}
}

func TestSigtermEndsAndRemovesSockets(t *testing.T) {
	d := startDaemon(t)
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-d.done:
		d.done <- err
		if err != nil {
			t.Errorf("exit: %v", err)
		}
	case <-time.After(limit):
		t.Fatalf("still running %v after SIGTERM without any session", limit)
	}
	for _, name := range []string{"session.sock", "api.sock"} {
		if _, err := os.Stat(filepath.Join(d.dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestRestartAfterKillRemovesStaleSockets(t *testing.T) {
	d := startDaemon(t)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	err := <-d.done
	d.done <- err
	again := &penstockd{bin: d.bin, dir: d.dir, config: d.config}
	again.cmd = exec.Command(d.bin, "run", "--config", d.config)
	again.cmd.Stderr = &again.log
	again.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := again.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = again.cmd.Process.Kill()
		_ = again.cmd.Wait()
	})
	again.awaitHealthy(t)
}
