package operations

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// answered is a command of a guide with the answer that the guide shows.
	answered = regexp.MustCompile("(?s)<!-- run by a test -->\n```sh\n(grpcurl [^\n]*)\n```\n```(?:json)?\n(.*?)```")
	// penstockdCall is a command of penstockd anywhere in a line: of the node, in a pod, or with sudo.
	penstockdCall = regexp.MustCompile(`(?:^|[ /])penstockd ([a-z]+[^#]*)`)
	flagName      = regexp.MustCompile(`--[a-z][a-z-]*`)
)

// guideCommands are the commands in the shell blocks of all guides and of README.md, without their comments.
func guideCommands(t *testing.T) map[string][]string {
	t.Helper()
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{}
	for _, page := range append(pages, root+"/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
				command, _, _ := strings.Cut(line, " #")
				if command = strings.TrimSpace(command); command != "" {
					commands[filepath.Base(page)] = append(commands[filepath.Base(page)], command)
				}
			}
		}
	}
	return commands
}

// TestGuideCommandsExist: each make target of a guide resolves, and each call of penstockd names a subcommand and flags that it has.
func TestGuideCommandsExist(t *testing.T) {
	help := map[string]string{}
	calls := 0
	for page, commands := range guideCommands(t) {
		for _, command := range commands {
			words := strings.Fields(strings.TrimPrefix(command, "sudo "))
			if words[0] == "make" {
				if out, err := exec.Command("make", append([]string{"-n", "-C", root}, words[1:]...)...).CombinedOutput(); err != nil {
					t.Errorf("%s: %q: %v\n%s", page, command, err, out)
				}
			}
			call := penstockdCall.FindStringSubmatch(command)
			if call == nil {
				continue
			}
			calls++
			sub := strings.Fields(call[1])[0]
			if help[sub] == "" {
				text, err := runBounded(binary(t, "penstockd"), sub, "--help")
				if err != nil {
					t.Errorf("%s: %q: %v\n%s", page, command, err, text)
				}
				help[sub] = text
			}
			for _, flag := range flagName.FindAllString(call[1], -1) {
				if !strings.Contains(help[sub], flag) {
					t.Errorf("%s: %q: penstockd %s has no flag %s", page, command, sub, flag)
				}
			}
		}
	}
	if calls < 10 {
		t.Errorf("only %d calls of penstockd were found", calls)
	}
}

// TestGuidesAnswersHaveTheirShape runs the calls that docs/troubleshooting.md shows and compares the answers by their keys and types.
func TestGuidesAnswersHaveTheirShape(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := answered.FindAllStringSubmatch(string(text), -1)
	if len(calls) != 3 {
		t.Fatalf("%d calls with an answer, want 3", len(calls))
	}
	d := startDaemon(t)
	for _, call := range calls {
		args := strings.Fields(strings.Replace(call[1], "/run/penstock/", d.dir+"/", 1))
		got, err := runBounded(binary(t, "tools/grpcurl"), args[1:]...)
		if err != nil {
			t.Errorf("%s: %v\n%s", call[1], err, got)
		} else if want := shape(call[2]); !reflect.DeepEqual(shape(got), want) {
			t.Errorf("%s: the guide shows\n%s\nthe daemon answers\n%s", call[1], call[2], got)
		}
	}
}

// shape is each path of an answer in JSON with the type of what stands there; of any other answer its words.
func shape(text string) []string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return strings.Fields(text)
	}
	var paths []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if object, ok := value.(map[string]any); ok {
			for key, field := range object {
				walk(path+"."+key, field)
			}
		}
		paths = append(paths, path+" "+reflect.TypeOf(value).String())
	}
	walk("", value)
	slices.Sort(paths)
	return paths
}
