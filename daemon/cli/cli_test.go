package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"penstock.dev/penstock/daemon/daemontest"
	"penstock.dev/penstock/daemon/listen"
	"penstock.dev/penstock/shm"
)

// output that is read while a command still writes.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func invoke(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = Main(args, &o, &e)
	return code, o.String(), e.String()
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "penstockd.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUsage(t *testing.T) {
	if code, out, _ := invoke("--help"); code != exitOK || !strings.Contains(out, "healthcheck") {
		t.Errorf("--help: %d, %s", code, out)
	}
	if code, _, errOut := invoke("sing"); code != exitUsage || !strings.Contains(errOut, "sing") {
		t.Errorf("an unknown command: %d, %s", code, errOut)
	}
	if code, out, _ := invoke("version"); code != exitOK || !strings.HasPrefix(out, "penstockd ") {
		t.Errorf("version: %d, %s", code, out)
	}
}

func TestValidate(t *testing.T) {
	if code, out, errOut := invoke("validate"); code != exitOK || !strings.Contains(out, "/run/penstock/session.sock") {
		t.Errorf("defaults: %d, %s%s", code, out, errOut)
	}
	path := writeConfig(t, "version = 1\n[arena]\nsegment = \"3GiB\"\n[log]\nlevel = \"loud\"\n")
	code, _, errOut := invoke("validate", "--config", path)
	if code != exitFailed || !strings.Contains(errOut, "arena.segment") || !strings.Contains(errOut, "log.level") {
		t.Errorf("two faults: %d, %s", code, errOut)
	}
	// run refuses the same file with the same words.
	if code, _, again := invoke("run", "--config", path); code != exitFailed || again != errOut {
		t.Errorf("run: %d, %s; validate said %s", code, again, errOut)
	}
	if code, out, _ := invoke("validate", "--listen-dir", "/somewhere"); code != exitOK || !strings.Contains(out, "/somewhere/api.sock") {
		t.Errorf("--listen-dir: %d, %s", code, out)
	}
	long := "/" + strings.Repeat("x", listen.MaxPath)
	if code, _, errOut := invoke("validate", "--listen-dir", long); code != exitFailed || !strings.Contains(errOut, "at most 107") {
		t.Errorf("long path: %d, %s", code, errOut)
	}
}

func TestNobodyAnswers(t *testing.T) {
	for _, command := range []string{"healthcheck", "status", "top"} {
		code, _, errOut := invoke(command, "--listen-dir", t.TempDir(), "--timeout", "2s")
		if code != exitUnreachable || !strings.Contains(errOut, "is penstockd running") {
			t.Errorf("%s: %d, %s", command, code, errOut)
		}
	}
}

// TestRunStatusHealthcheck runs the daemon as the command does, with the real engine, asks it, and ends it by its signal.
func TestRunStatusHealthcheck(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	config := writeConfig(t, fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n"+
		"[metrics]\nlisten = \"\"\n[process]\nshutdown_grace = \"50ms\"\n", folder))
	var out, errOut log
	ended := make(chan int, 1)
	go func() { ended <- Main([]string{"run", "--config", config}, &out, &errOut) }()
	daemontest.Eventually(t, "healthcheck says SERVING", func() bool {
		code, text, _ := invoke("healthcheck", "--config", config)
		return code == exitOK && strings.Contains(text, "SERVING")
	})
	c := daemontest.Open(t, filepath.Join(folder, "session.sock"), "p1")
	segment := c.MustLease()

	if code, text, _ := invoke("status", "--config", config); code != exitOK || !strings.Contains(text, "librdkafka 2.11.1") ||
		!strings.Contains(text, "tm-p1") || !strings.Contains(text, "1MiB leased") {
		t.Errorf("status: %d, %s", code, text)
	}
	code, text, _ := invoke("status", "--json", "--listen-dir", folder)
	var status struct {
		Serving  bool `json:"serving"`
		Sessions []struct {
			Client string `json:"client_name"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil || code != exitOK || !status.Serving || len(status.Sessions) != 1 ||
		status.Sessions[0].Client != "tm-p1" {
		t.Errorf("status --json: %d, %v, %s", code, err, text)
	}

	c.Park(segment, shm.SegmentHeaderBytes, daemontest.Rows(1, 0, 10))
	code, text, _ = invoke("top", "-n", "2", "--interval", "10ms", "--listen-dir", folder)
	for _, want := range []string{clear + "rates: with the next answer\n", clear + "rates: 0 rows/s", "TASKMANAGER", "lease", "SEGMENT"} {
		if code != exitOK || !strings.Contains(text, want) {
			t.Errorf("top: %d, no %q in %q", code, want, text)
		}
	}
	if code, text, _ := invoke("status", "--slots", "--listen-dir", folder); code != exitOK || !strings.Contains(text, "parked") ||
		!strings.Contains(text, "SLOT") {
		t.Errorf("status --slots: %d, %s", code, text)
	}

	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	daemontest.Eventually(t, "run ends", func() bool { return len(ended) == 1 })
	if code := <-ended; code != exitOK {
		t.Errorf("run ended with %d\n%s", code, errOut.String())
	}
	for _, want := range []string{"msg=ready", "msg=draining", "msg=stopped"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("no %q in the log\n%s", want, errOut.String())
		}
	}
}
