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

// installedPath is a folder in the comment beside the guide's `make install`.
var installedPath = regexp.MustCompile(`# (/\S+(?:, /\S+)*);`)

// makeCommands are the commands of make in docs/bare-metal.md in their order, with their comments.
func makeCommands(t *testing.T) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/bare-metal.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range testedBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if strings.HasPrefix(strings.TrimPrefix(line, "sudo "), "make ") {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	return commands
}

// guideShell runs a command of the guide at the root of the repository, without root's rights and into a folder.
func guideShell(t *testing.T, command, destination string, environment ...string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("timeout", "300", "sh", "-e", "-c", command)
	cmd.Dir, cmd.WaitDelay = root, 10*time.Second
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DESTDIR="+destination), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// requireSame compares an installed file with the one of the repository.
func requireSame(t *testing.T, installed, source string) {
	t.Helper()
	got, err := os.ReadFile(installed)
	if err != nil {
		t.Error(err)
		return
	}
	if want, err := os.ReadFile(filepath.Join(root, source)); err != nil || string(got) != string(want) {
		t.Errorf("%s is not what %s has (%v)", installed, source, err)
	}
}

// TestGuideInstalls runs what docs/bare-metal.md lets a user type to build, install and upgrade; systemd's half is in daemon/cli.
func TestGuideInstalls(t *testing.T) {
	commands := makeCommands(t)
	if len(commands) != 3 {
		t.Fatalf("%d commands of make, want 3: %q", len(commands), commands)
	}
	paths := installedPath.FindStringSubmatch(commands[1])
	if paths == nil {
		t.Fatalf("%q does not say where to", commands[1])
	}
	there := t.TempDir()
	guideShell(t, commands[0], there)
	guideShell(t, commands[1], there)
	for _, path := range strings.Split(paths[1], ", ") {
		if files, err := filepath.Glob(filepath.Join(there, path, "*")); err != nil || len(files) == 0 {
			t.Errorf("nothing is installed in %s (%v)", path, err)
		}
	}
	program, config := filepath.Join(there, "usr/bin/penstockd"), filepath.Join(there, "etc/penstock/penstockd.toml")
	requireSame(t, program, "build/penstockd")
	requireSame(t, config, "daemon/config/penstockd.toml")
	requireSame(t, filepath.Join(there, "usr/lib/systemd/system/penstockd.service"), "daemon/systemd/penstockd.service")
	requireSame(t, filepath.Join(there, "usr/lib/systemd/system/penstockd.socket"), "daemon/systemd/penstockd.socket")
	requireSame(t, filepath.Join(there, "usr/share/doc/penstock/bare-metal.md"), "docs/bare-metal.md")
	if out, err := runBounded(program, "validate", "--config", config); err != nil {
		t.Errorf("the installed program and its configuration: %v\n%s", err, out)
	}

	// An upgrade brings a program and leaves the site's configuration.
	for name, text := range map[string]string{program: "old", config: "version = 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	guideShell(t, commands[2], there)
	requireSame(t, program, "build/penstockd")
	if text, err := os.ReadFile(config); err != nil || string(text) != "version = 1\n" {
		t.Errorf("an upgrade leaves %d bytes in the site's configuration, want those of the site (%v)", len(text), err)
	}
}

// TestGuideInstallsElsewhere: with PREFIX the unit starts the program that lies there.
func TestGuideInstallsElsewhere(t *testing.T) {
	there := t.TempDir()
	guideShell(t, makeCommands(t)[1], there, "PREFIX=/opt/penstock")
	unit, err := os.ReadFile(filepath.Join(there, "opt/penstock/lib/systemd/system/penstockd.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/opt/penstock/bin/penstockd run ") {
		t.Errorf("%v\n%s", err, unit)
	}
	requireSame(t, filepath.Join(there, "opt/penstock/bin/penstockd"), "build/penstockd")
}
