package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// testedBlock is a block of commands of a guide that says that a test runs it.
var testedBlock = regexp.MustCompile("(?s)<!-- run by a test -->\n```sh\n(.*?)```")

// TestQuickstart runs what docs/quickstart.md lets a user type on a laptop, up to Flink's own scripts: with the built daemon and jars, and
// an empty Flink that gets its files. What the job writes is shown by ExamplesTest.
func TestQuickstart(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := testedBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of commands, want 3", len(blocks))
	}
	binary(t, "penstockd")
	folder := t.TempDir()
	for _, name := range []string{"flink/lib", "flink/conf", "tmp"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := blocks[0][1] + "trap 'kill $!' EXIT\n" + blocks[1][1] + blocks[2][1]
	script = strings.ReplaceAll(script, "/tmp/penstock", folder+"/tmp/penstock")
	script = strings.ReplaceAll(script, "flights.jsonl /tmp/", "flights.jsonl "+folder+"/tmp/")
	cmd := exec.Command("timeout", "120", "sh", "-e", "-c", script)
	cmd.Dir, cmd.WaitDelay = root, 10*time.Second
	cmd.Env = append(os.Environ(), "FLINK_HOME="+filepath.Join(folder, "flink"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(strings.ToLower(string(out)), "serving") {
		log, _ := os.ReadFile(folder + "/tmp/penstock/log")
		t.Errorf("%v\n%s\n%s", err, out, log)
	}
	jars, _ := filepath.Glob(folder + "/flink/lib/*")
	if len(jars) != 1 || strings.Contains(jars[0], "sql-kafka") || strings.Contains(jars[0], "original") {
		t.Errorf("Flink's lib has %v, want the one jar for flink-connector-kafka", jars)
	}
	config, err := os.ReadFile(folder + "/flink/conf/config.yaml")
	if err != nil || string(config) != "taskmanager.memory.task.off-heap.size: 64m\n" {
		t.Errorf("Flink's configuration is %q, %v", config, err)
	}
}
