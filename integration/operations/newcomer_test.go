package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newcomerCheck runs the script of `make newcomer-check` and returns what it says and its exit code. The test names targets that take no time
// in the place of demo and test; clone, home and environment are what they are. Nothing may be left of them.
func newcomerCheck(t *testing.T, environment ...string) (string, int) {
	t.Helper()
	script, err := filepath.Abs(root + "/integration/newcomer/check.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cmd := exec.Command("bash", script)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+folder, "MINUTES=2", "KEEP="), environment...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the script leaves %v, %v", left, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestNewcomerCheckShowsTheEndOfAFailedPart: parts run in their order up to the first that fails.
func TestNewcomerCheckShowsTheEndOfAFailedPart(t *testing.T) {
	text, code := newcomerCheck(t, "PARTS=help no-such-target help")
	for _, want := range []string{"make help passed", "No rule to make target", "make no-such-target FAILED with code 2",
		"out/newcomer/no-such-target.log"} {
		if !strings.Contains(text, want) {
			t.Errorf("the script does not say %q:\n%s", want, text)
		}
	}
	if code != 1 || strings.Count(text, "make help passed") != 1 {
		t.Errorf("exit code %d, want 1 and only one part passed:\n%s", code, text)
	}
}

// TestNewcomerCheckNamesWhatIsMissing: before anything is cloned or built, with the words of README.md.
func TestNewcomerCheckNamesWhatIsMissing(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{"dirname", "sed", "git", "go", "java", "javac", "make"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	text, code := newcomerCheck(t, "PATH="+programs)
	for _, want := range []string{"lacks: gofmt mvn gcc.", "Go 1.26, JDK 17, Maven, a C compiler and Make"} {
		if !strings.Contains(text, want) {
			t.Errorf("the script does not say %q:\n%s", want, text)
		}
	}
	if code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
}
