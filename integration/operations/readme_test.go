package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// readmeCommands returns the commands of README.md's shell blocks without their comments.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range shellBlock.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n   ", "\n"), -1) {
		for line := range strings.Lines(block[1]) {
			command, _, _ := strings.Cut(line, "#")
			if command = strings.TrimSpace(command); command != "" {
				out = append(out, command)
			}
		}
	}
	return out
}

// TestReadmeCommands runs every command that README.md shows. `make` targets are resolved (make -n), since this test itself
// runs below `make test`; penstockd's commands run against a daemon of the test.
func TestReadmeCommands(t *testing.T) {
	d := startDaemon(t)
	commands := readmeCommands(t)
	if len(commands) < 6 {
		t.Fatalf("README.md shows only %d commands: %q", len(commands), commands)
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) { runReadmeCommand(t, d, strings.Fields(command)) })
	}
}

func runReadmeCommand(t *testing.T, d *penstockd, args []string) {
	var text string
	var err error
	switch args[0] {
	case "make":
		var out []byte
		out, err = exec.Command("make", append([]string{"-n", "-C", root}, args[1:]...)...).CombinedOutput()
		text = string(out)
	case "build/penstockd":
		switch args[1] {
		case "run": // a second one on the default folder would need its permissions; the daemon of this test is the proof
			return
		case "validate":
			text, err = runBounded(binary(t, "penstockd"), "validate", "--config", root+"/"+args[3])
		case "top": // without an end it shows the status until somebody stops it
			text, err = d.command("top", "--iterations", "2", "--interval", "10ms")
		case "doctor":
			text, err = d.command("doctor", "--properties", producerProperties(t))
		default:
			text, err = d.command(args[1:]...)
		}
	case "grpcurl":
		for i, a := range args {
			if strings.HasSuffix(a, "/api.sock") {
				args[i] = d.dir + "/api.sock"
			}
		}
		text, err = runBounded(binary(t, "tools/grpcurl"), args[1:]...)
	default:
		t.Fatalf("no way to run %q here: teach this test", args)
	}
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, text)
	}
}

// producerProperties is a file that leads to a cluster within this process, as the guide of bare metal is tested; a real broker takes seconds.
func producerProperties(t *testing.T) string {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	name := filepath.Join(t.TempDir(), "producer.properties")
	if err := os.WriteFile(name, []byte("properties.bootstrap.servers="+cluster.ListenAddrs()[0]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestReadmeTargetsHaveHelp keeps `make` help complete: every target that README.md or DESIGN.md names is listed.
func TestReadmeTargetsHaveHelp(t *testing.T) {
	help, err := exec.Command("make", "-C", root, "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, help)
	}
	target := regexp.MustCompile("`make ([a-z][a-z-]*)")
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no guides: %v", err)
	}
	for _, file := range append(pages, root+"/README.md", root+"/DESIGN.md", root+"/CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			if name := strings.TrimSuffix(m[1], "-"); !strings.Contains(string(help), "make "+name) {
				t.Errorf("%s names `make %s`, which `make help` does not list", file, m[1])
			}
		}
	}
}
