package epoch

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"penstock.dev/penstock/kafka/producer"
)

var update = flag.Bool("update", false, "rewrite what the scripts in testdata expect")

// TestScripts runs every script in testdata. A script is a list of blocks, parted by empty lines: inputs, a line of
// dashes, and what the machine answers: actions, the error if any, and where it stands then. Lines with # are comments.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var m *Machine
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		input, want, isTest := strings.Cut(block, "\n----")
		if !isTest {
			if !strings.HasPrefix(block, "#") {
				t.Fatalf("a block without a line of dashes: %s", block)
			}
			out = append(out, block)
			continue
		}
		var got strings.Builder
		for _, line := range strings.Split(input, "\n") {
			if !strings.HasPrefix(line, "#") {
				m = feed(t, m, line, &got)
			}
		}
		answer := strings.TrimSpace(got.String())
		if answer != strings.TrimSpace(want) && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", input, answer, want)
		}
		out = append(out, input+"\n----\n"+answer)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// feed gives one input to the machine and writes the answer.
func feed(t *testing.T, m *Machine, line string, out *strings.Builder) *Machine {
	t.Helper()
	words := strings.Fields(line)
	name, args := words[0], append(words[1:], "", "")
	if name == "new" {
		return NewMachine(args[0] == "transactional")
	}
	actions, err := step(t, m, name, args, words)
	for _, a := range actions {
		ids := strings.Join(a.IDs, " ")
		if ids == "" {
			ids = a.ID
		}
		fmt.Fprintln(out, strings.TrimSpace(a.Kind.String()+" "+ids))
	}
	if err != nil {
		fmt.Fprintf(out, "error %v: %v\n", producer.KindOf(err), err)
	}
	fmt.Fprintln(out, standing(m))
	return m
}

func step(t *testing.T, m *Machine, name string, args, words []string) ([]Action, error) {
	t.Helper()
	number := func() int64 {
		n, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return n
	}
	switch name {
	case "warm":
		return m.Warm(args[0])
	case "begin":
		return m.Begin(uint64(number()), args[1], words[min(3, len(words)):])
	case "init-done":
		return m.InitDone(args[0])
	case "init-failed":
		return m.InitFailed(args[0], errors.New("no broker"))
	case "begun":
		return m.Begun()
	case "produced":
		return nil, m.Produced(number())
	case "flush":
		return m.Flush(number())
	case "flushed":
		return m.Flushed()
	case "seal":
		return m.Seal(number())
	case "seal-done":
		return m.SealDone()
	case "fail":
		return m.Fail(producer.Errorf(producer.FailEpoch, "%s", args[0])), nil
	case "abort":
		return m.Abort()
	case "end":
		return m.End(), nil
	}
	t.Fatalf("unknown input %q", name)
	return nil, nil
}

// standing is one line: the state, its epoch and what is warm.
func standing(m *Machine) string {
	s := fmt.Sprintf("= %v %d %q rows %d", m.state, m.epoch, m.id, m.rows)
	if m.warm != Idle {
		s += fmt.Sprintf(", %v %s", m.warm, m.warmID)
	}
	if m.want != "" {
		s += ", wants " + m.want
	}
	return s
}
