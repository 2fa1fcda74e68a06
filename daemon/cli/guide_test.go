package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"penstock.dev/penstock/daemon/daemontest"
)

// testedBlock is a block of commands of a guide that says that a test runs it.
var testedBlock = regexp.MustCompile("(?s)<!-- run by a test -->\n```sh\n(.*?)```")

// guideCommands are the commands of docs/bare-metal.md in their order, with their comments. All of them are run by tests: those of
// penstockd by TestGuideCommandsRun, those of systemctl by TestGuidesServiceRuns, those of make by integration/operations.
func guideCommands(t *testing.T) (commands []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/bare-metal.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := testedBlock.FindAllStringSubmatch(string(text), -1)
	if all := strings.Count(string(text), "```sh\n"); all != len(blocks) {
		t.Errorf("%d of %d blocks of commands say that a test runs them", len(blocks), all)
	}
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	for _, command := range commands {
		if !knownCommand.MatchString(command) {
			t.Errorf("no test runs %q of docs/bare-metal.md", command)
		}
	}
	return commands
}

var knownCommand = regexp.MustCompile(`^(penstockd|sudo systemctl|(sudo )?make) `)

// TestGuideCommandsRun runs what docs/bare-metal.md lets a user type, with a daemon, its configuration and a cluster to reach.
func TestGuideCommandsRun(t *testing.T) {
	commands := slices.DeleteFunc(guideCommands(t), func(command string) bool { return !strings.HasPrefix(command, "penstockd ") })
	if len(commands) != 5 {
		t.Fatalf("%d commands of penstockd, want 5: %q", len(commands), commands)
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
	for _, command := range commands {
		cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(command, "/etc/penstock/penstockd.toml", config))
		cmd.Env, cmd.Dir = environment, home
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := endOf(t, cmd); err != nil {
			t.Errorf("%v\n%s\n%s", err, command, out.String())
		}
	}
	daemon.Process.Signal(syscall.SIGTERM)
	if err := endOf(t, daemon); err != nil {
		t.Error(err)
	}
}
