package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// goTest runs `go test -json` with the arguments and prints what a person needs: the line of each package and the whole
// output of each test that failed.
func goTest(args []string) (counts, error) {
	cmd := exec.Command("go", append([]string{"test", "-json", "-timeout", "20m"}, args...)...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return counts{}, err
	}
	if err := cmd.Start(); err != nil {
		return counts{}, err
	}
	c := countEvents(pipe, os.Stdout)
	return c, cmd.Wait()
}

func countEvents(in io.Reader, out io.Writer) counts {
	var c counts
	output := map[string][]string{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text())
			continue
		}
		key := e.Package + "\x00" + e.Test
		switch e.Action {
		case "output", "build-output":
			if isPackageLine(e) || e.Action == "build-output" {
				fmt.Fprint(out, e.Output)
			} else {
				output[key] = append(output[key], e.Output)
			}
		case "pass", "skip":
			if e.Test != "" {
				c.count(e.Action)
			}
			delete(output, key)
		case "fail":
			fmt.Fprint(out, strings.Join(output[key], ""))
			c.count(e.Action)
			delete(output, key)
		}
	}
	return c
}

// isPackageLine tells the closing line of a package ("ok", "FAIL", "?") from a test's own output.
func isPackageLine(e event) bool {
	return e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t"))
}

func (c *counts) count(action string) {
	switch action {
	case "pass":
		c.Passed++
	case "skip":
		c.Skipped++
	case "fail":
		c.Failed++
	}
}
