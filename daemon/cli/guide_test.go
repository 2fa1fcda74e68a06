package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"penstock.dev/penstock/daemon/daemontest"
)

// testedBlock is a block of commands of a guide that says that a test runs it.
var testedBlock = regexp.MustCompile("(?s)<!-- run by a test -->\n```sh\n(.*?)```")

// TestGuideCommandsRun runs what docs/bare-metal.md lets a user type, with a daemon, its configuration and a cluster to reach.
func TestGuideCommandsRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/bare-metal.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := testedBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of commands, want 3", len(blocks))
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	home := t.TempDir()
	config := filepath.Join(home, "penstockd.toml")
	for name, content := range map[string]string{
		config: fmt.Sprintf("version = 1\n[listen]\ndirectory = %q\n[arena]\ncapacity = \"8MiB\"\nsegment = \"1MiB\"\n[metrics]\nlisten = \"\"\n",
			filepath.Join(home, "run")),
		filepath.Join(home, "producer.properties"): "properties.bootstrap.servers=" + cluster.ListenAddrs()[0] + "\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(home, "penstockd")); err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), asDaemon+"=1", "PATH="+home+":"+os.Getenv("PATH"))
	daemon := exec.Command(self, "run", "--config", config)
	daemon.Env = environment
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { daemon.Process.Kill() })
	daemontest.Eventually(t, "the daemon serves", func() bool { code, _, _ := invoke("healthcheck", "--config", config); return code == exitOK })
	for _, block := range blocks {
		cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(block[1], "/etc/penstock/penstockd.toml", config))
		cmd.Env, cmd.Dir = environment, home
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := endOf(t, cmd); err != nil {
			t.Errorf("%v\n%s\n%s", err, block[1], out.String())
		}
	}
	daemon.Process.Signal(syscall.SIGTERM)
	if err := endOf(t, daemon); err != nil {
		t.Error(err)
	}
}
